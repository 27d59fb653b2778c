/** The story of test/fixtures/openstatus: docs/upstreams/uptime-service.md says what it needs. */

import { at, begin, call, end, later, pharos, sql, step } from './drive.mjs';
import { configure, makeMonitors, makePage, makePages, makeWorkspace, placeStatic, writeDays } from './world.mjs';

await begin();
await makeWorkspace();
const monitors = await makeMonitors();
const { acme, quiet, manual, partners, empty, core, edge, components, byHand } = await makePages(monitors);
writeDays(monitors);
const { api, web, desk, database, dns, batch } = components;

const page = (operation, body) => call('StatusPage', operation, body);
const impact = (pageComponentId, word) => ({ pageComponentId, impact: `PAGE_COMPONENT_IMPACT_${word}` });
const status = (word) => `STATUS_REPORT_STATUS_${word}`;
async function report(pageId, title, { word = 'INVESTIGATING', message, date = at(), about = [], impacts = [] }) {
  const body = {
    title,
    status: status(word),
    message,
    date,
    pageId,
    pageComponentIds: about,
    componentImpacts: impacts,
  };
  return (await call('StatusReport', 'CreateStatusReport', body)).statusReport.id;
}
const update = (statusReportId, word, message, impacts = []) =>
  call('StatusReport', 'AddStatusReportUpdate', {
    statusReportId,
    status: status(word),
    message,
    date: at(),
    componentImpacts: impacts,
  });
async function window(title, message, [from, to], about) {
  const body = { title, message, from: at(from), to: at(to), pageId: acme, pageComponentIds: about };
  return (await call('Maintenance', 'CreateMaintenance', body)).maintenance.id;
}
/** A check that fails or is well again is written down by another program of the service. */
async function fails(monitor, incident) {
  await sql(`update monitor set status = 'error' where id = ${monitor}`);
  const values = `${incident}, ${monitor}, 1, 'triage', strftime('%s', 'now')`;
  await sql(`insert into incident (id, monitor_id, workspace_id, status, started_at) values (${values})`);
}
async function isWell(monitor, incident) {
  await sql(`update monitor set status = 'active' where id = ${monitor}`);
  await sql(`update incident set resolved_at = strftime('%s', 'now'), status = 'resolved' where id = ${incident}`);
}
const is = (monitor, word) => sql(`update monitor set status = '${word}' where id = ${monitor}`);
/** After so many minutes something changes, and the pages are looked at. */
const after = async (minutes, name, slugs, change) => {
  later(minutes);
  await step(name, slugs, change);
};

await step('nothing is wrong', ['acme', 'quiet', 'manual', 'staff', 'partners', 'office', 'empty']);
await after(4, 'a monitor fails', ['acme', 'manual'], () => fails(monitors.api, 1));
await after(3, 'and is well again', ['acme', 'manual'], () => isWell(monitors.api, 1));
await after(1, 'a monitor is slow', ['acme', 'manual'], () => is(monitors.web, 'degraded'));
await after(1, 'a monitor is quick again', ['acme'], () => is(monitors.web, 'active'));

let errors;
await after(1, 'report: API is down', ['acme', 'manual'], async () => {
  errors = await report(acme, 'API errors', {
    message: 'Looking into it',
    about: [api],
    impacts: [impact(api, 'MAJOR_OUTAGE')],
  });
});
await after(5, 'report: partly, and the website too', ['acme'], () =>
  update(errors, 'IDENTIFIED', 'A bad deploy', [impact(api, 'PARTIAL_OUTAGE'), impact(web, 'DEGRADED_PERFORMANCE')]),
);
await after(5, 'report: API is back, the website not', ['acme'], () =>
  update(errors, 'IDENTIFIED', 'Rolled back', [impact(api, 'OPERATIONAL')]),
);
await after(3, 'report: monitoring', ['acme'], () => update(errors, 'MONITORING', 'Watching'));
await after(3, 'report: worse again', ['acme'], () =>
  update(errors, 'INVESTIGATING', 'Not over', [impact(desk, 'DEGRADED_PERFORMANCE')]),
);
await after(3, 'report: resolved', ['acme'], () => update(errors, 'RESOLVED', 'Over'));
await after(2, 'report: the text of an old update is put right', ['acme'], () =>
  sql(
    `update status_report_update set message = 'Looking into it, sorry' where status_report_id = ${errors} and message = 'Looking into it'`,
  ),
);
await after(1, 'report: renamed', ['acme'], () =>
  call('StatusReport', 'UpdateStatusReport', { id: errors, title: 'Errors of the API' }),
);

let phones;
await after(1, 'report without components', ['acme', 'manual'], async () => {
  phones = await report(acme, 'Phones are busy', { message: 'Please write instead' });
});
await after(2, 'report without components, resolved', ['acme'], () => update(phones, 'RESOLVED', 'Calm'));
let oddities;
await after(1, 'report with components and no impact', ['acme'], async () => {
  oddities = await report(acme, 'DNS oddities', { message: 'Hm', date: at(-10), about: [dns] });
});
await after(1, 'the same, monitoring', ['acme'], () => update(oddities, 'MONITORING', 'Watching'));
let onManual;
await after(1, 'report by hand on the page without monitors', ['manual', 'acme'], async () => {
  const impacts = [impact(byHand, 'MAJOR_OUTAGE')];
  onManual = await report(manual, 'By hand', { word: 'IDENTIFIED', message: 'We know', about: [byHand], impacts });
});

let upgrade;
await after(1, 'maintenance to come', ['acme'], async () => {
  upgrade = await window('Database upgrade', 'Read only', [5, 15], [database]);
});
await after(6, 'maintenance runs, the monitor fails in it', ['acme'], () => fails(monitors.database, 2));
await after(1, 'maintenance cut short', ['acme'], async () => {
  await call('Maintenance', 'UpdateMaintenance', { id: upgrade, to: at(1), message: 'Nearly done' });
  await isWell(monitors.database, 2);
});
await after(3, 'maintenance over', ['acme']);
let mistake;
await after(1, 'maintenance deleted while it runs', ['acme'], async () => {
  mistake = await window('Oops', 'Wrong page', [-1, 60], [web]);
});
await after(1, 'and gone', ['acme'], () => call('Maintenance', 'DeleteMaintenance', { id: mistake }));
await after(1, 'and gone in the next pass too', ['acme']);

await after(1, 'an open report is deleted, its id goes to another page', ['acme', 'quiet'], async () => {
  for (const id of [oddities, onManual]) await call('StatusReport', 'DeleteStatusReport', { id });
  await report(quiet, 'Private matter', { message: 'Only for the quiet page' });
});
await after(1, 'a component moves, a group is deleted, an id is used again', ['acme'], async () => {
  await page('UpdateComponent', { id: web, order: 0 });
  await page('UpdateComponent', { id: desk, order: 9 });
  await page('DeleteComponentGroup', { id: edge });
  await page('RemoveComponent', { id: batch });
  await placeStatic(acme, 'Letters', 6);
});
await after(1, 'page: settings', ['acme', 'manual'], async () => {
  const french = { defaultLocale: 'LOCALE_FR', locales: ['LOCALE_FR', 'LOCALE_EN'] };
  const domain = { customDomain: 'status.acme.example.test' };
  await page('UpdateStatusPage', { id: acme, title: 'Acme Corp', allowIndex: false, ...domain, ...french, icon: '' });
  await configure(manual, { value: 'duration', type: 'absolute', uptime: true, days: 45 });
});
await after(1, 'page: back', ['acme', 'manual'], () =>
  page('UpdateStatusPage', { id: acme, customDomain: '', allowIndex: true }),
);
await after(1, 'a group is folded', ['acme'], () => page('UpdateComponentGroup', { id: core, defaultOpen: false }));
await after(1, 'a resolved report begins again', ['acme'], () =>
  update(errors, 'INVESTIGATING', 'It is back', [impact(database, 'MAJOR_OUTAGE')]),
);
await after(1, 'it is about other components', ['acme'], () =>
  call('StatusReport', 'UpdateStatusReport', {
    id: errors,
    updatePageComponentIds: true,
    pageComponentIds: [api, desk],
  }),
);
await after(2, 'and is over for good', ['acme'], () => update(errors, 'RESOLVED', 'Over for good'));
await after(1, 'a page goes behind a password', ['acme', 'partners'], () =>
  page('UpdateStatusPage', { id: partners, accessType: 'PAGE_ACCESS_TYPE_PASSWORD_PROTECTED', password: 'sesame' }),
);
await after(1, 'the page is open to all', ['partners'], () =>
  page('UpdateStatusPage', { id: partners, accessType: 'PAGE_ACCESS_TYPE_PUBLIC' }),
);
await after(1, 'page deleted, slug used again', ['empty', 'quiet'], async () => {
  await page('DeleteStatusPage', { id: empty });
  await makePage({ title: 'New one', slug: 'empty' });
});
await after(1, 'a monitor on a page is deleted', ['acme', 'quiet'], () =>
  call('Monitor', 'DeleteMonitor', { id: monitors.dns }),
);

const CHANNELS = {
  DISCORD: { discord: { webhookUrl: 'https://discord.example.test/hook' } },
  EMAIL: { email: { email: 'ops@example.test' } },
  SLACK: { slack: { webhookUrl: 'https://slack.example.test/hook' } },
  PAGERDUTY: { pagerduty: { integrationKey: 'k' } },
  OPSGENIE: { opsgenie: { apiKey: 'k', region: 'OPSGENIE_REGION_EU' } },
  WEBHOOK: { webhook: { endpoint: 'https://hook.example.test/in', headers: [{ key: 'x-secret', value: 's' }] } },
  TELEGRAM: { telegram: { chatId: '1' } },
  SMS: { sms: { phoneNumber: '+14155551234' } },
  WHATSAPP: { whatsapp: { phoneNumber: '+14155551234' } },
  GOOGLE_CHAT: { googleChat: { webhookUrl: 'https://chat.example.test/hook' } },
  GRAFANA_ONCALL: { grafanaOncall: { webhookUrl: 'https://oncall.example.test/hook' } },
  NTFY: { ntfy: { topic: 't', serverUrl: 'https://ntfy.example.test', token: 's' } },
  MS_TEAMS: { msTeams: { webhookUrl: 'https://teams.example.test/hook' } },
};
await after(1, 'channels', ['acme'], async () => {
  for (const [name, data] of Object.entries(CHANNELS)) {
    const channel = { name, provider: `NOTIFICATION_PROVIDER_${name}`, data, monitorIds: [monitors.api] };
    await call('Notification', 'CreateNotification', channel);
  }
});
console.log((await pharos('check')).text);

await after(1, 'the key is revoked', ['acme'], () =>
  sql(`update api_key set expires_at = strftime('%s', 'now') - 60 where id = 2`),
);
await after(1, 'the key works again', ['acme'], () => sql('update api_key set expires_at = null where id = 2'));
end();
