import { type ReportDocument, reportRows } from '../../../views/report/report-data.ts';
import { fileKind } from '../file-kind.ts';
import { csvText } from '../serialise.ts';

export const REPORT_CSV = fileKind(
  import.meta.url,
  { name: 'report-csv', contentType: 'text/csv; charset=utf-8' },
  (report: ReportDocument) => csvText(reportRows(report)),
);
