import { describe, expect, it } from 'vitest';
import { settingFindings } from '../../../src/cli/doctor/doctor.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';

const NOW = toEpochMs(Date.UTC(2026, 10, 22));

function securityFinding(security: string): unknown {
  const text = `site: { url: "https://status.example.com"${security} }`;
  const config = parseConfig({ text, file: null, folder: '/' }, CONNECTORS, {});
  return settingFindings(config, NOW).find(({ name }) => name === 'security.txt');
}

describe('what the doctor says of security.txt', () => {
  it('is whether it is still believed', () => {
    const until = (expires: string) =>
      securityFinding(`, security: { contact: ["mailto:security@example.com"], expires: ${expires} }`);
    expect(until('2027-06-30')).toMatchObject({ result: 'ok', message: 'valid until 2027-06-30' });
    expect(until('2026-11-22')).toMatchObject({ result: 'warning', message: 'expired on 2026-11-22' });
    expect(until('"2026-11-22T00:00:01+00:00"')).toMatchObject({ result: 'ok' });
    expect(securityFinding('')).toBeUndefined();
  });
});

describe('what the doctor says of the operator token', () => {
  it('is that there is no operators’ page only where there are no operators', () => {
    const said = (operators: string, environment: Record<string, string> = {}) => {
      const text = `{ site: { url: "https://status.example.com" }, ${operators} }`;
      const config = parseConfig({ text, file: null, folder: '/' }, CONNECTORS, environment);
      return settingFindings(config, NOW).find(({ name }) => name === 'operator token')?.result;
    };
    expect(said('')).toBe('warning');
    expect(said('operators: { token: "${T}" }', { T: 'short' })).toBe('warning');
    const tokens = 'operators: { tokens: [{ name: ci, token: "${T}", role: admin }] }';
    expect(said(tokens, { T: 'of twenty-two characters at least' })).toBe('ok');
  });
});
