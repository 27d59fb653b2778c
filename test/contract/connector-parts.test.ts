import { describe, expect, it } from 'vitest';
import { NO_LIMITS, type PullContext } from '../../src/sync/connector.ts';
import { type AnyConnector, CONNECTORS, connectorOf } from '../../src/sync/connectors/index.ts';
import { missingParts, missingPast, partsWithoutKind } from '../helpers/connector-parts.ts';
import { startTestSandbox } from '../helpers/sandbox.ts';
import { toyConnector } from '../helpers/toy-upstream.ts';
import { SANDBOXES } from '../sandbox/kinds/index.ts';

const KINDS = CONNECTORS.map(({ kind }) => kind);

describe('the parts of a kind', () => {
  it.each(CONNECTORS.map((connector) => [connector.kind, connector] as const))(
    '%s has all of them',
    async (_, connector) => {
      expect([...missingParts(connector), ...(await missingPast(connector))]).toEqual([]);
    },
  );

  it('that read no past and claim to have are told', async () => {
    // As a copy of the connector that forgets to ask for flips.
    const { optionsSchema, pull } = connectorOf('healthchecks');
    const forgetful = {
      optionsSchema,
      kind: 'healthchecks',
      pull: function* (options: never, context: PullContext) {
        const learned = yield* pull(options, context);
        return { ...learned, details: [], isBackfilled: true };
      },
    } as unknown as AnyConnector;
    expect(await missingPast(forgetful)).toEqual([
      expect.stringContaining('isBackfilled says that the past has been read'),
    ]);
  });

  it('belong to a kind of the registry, which names each once', () => {
    expect(partsWithoutKind(KINDS)).toEqual([]);
    expect(new Set(KINDS).size).toBe(KINDS.length);
    expect(new Set(CONNECTORS.map(({ example }) => example.id)).size).toBe(KINDS.length);
  });

  it('are told by name where they are missing', () => {
    const toy = {
      ...toyConnector,
      limits: NO_LIMITS,
      title: ' ',
      example: { id: 'toy', kind: 'game', baseUrl: 'https://toy.example.com' },
      questions: [{ key: 'colour', words: 'Colour' }],
      idField: 'id',
      words: { state: ['operational'] },
    } as unknown as AnyConnector;
    expect(missingParts(toy).map((sentence) => sentence.slice(0, 75))).toMatchInlineSnapshot(`
      [
        "src/sync/connectors/toy/connector.ts is missing: a connector keeps everythi",
        "src/sync/connectors/toy/project.ts is missing: a connector keeps everything",
        "src/sync/connectors/toy/connector.ts: the title is empty; it says in a few ",
        "src/sync/connectors/toy/connector.ts: the example is of the kind game.",
        "src/sync/connectors/toy/connector.ts: the example is no configuration: the ",
        "src/sync/connectors/toy/connector.ts: there is no question for baseUrl, whi",
        "src/sync/connectors/toy/connector.ts: there is no question for key, which i",
        "src/sync/connectors/toy/connector.ts: a question is about colour, which is ",
        "src/sync/connectors/toy/connector.ts: the example has no colour, of which a",
        "test/fixtures/upstream/toy has no ok-*.json: answers of the upstream, by wh",
        "docs/upstreams/toy.md is missing: describe a configuration, the options, th",
        "test/sandbox/kinds/toy.ts is missing, or its line in test/sandbox/kinds/ind",
      ]
    `);
    const unnamed = partsWithoutKind(KINDS).length;
    expect(partsWithoutKind(KINDS.slice(1)).length).toBe(unnamed + 3);
    expect(
      partsWithoutKind(KINDS.slice(1)).filter((sentence) => sentence.includes(KINDS[0] ?? '')),
    ).toMatchInlineSnapshot(`
      [
        "src/sync/connectors has server-monitor, which is no kind: name its connector in src/sync/connectors/index.ts.",
        "docs/upstreams has server-monitor, which is no kind: name its connector in src/sync/connectors/index.ts.",
        "test/fixtures/upstream has server-monitor, which is no kind: name its connector in src/sync/connectors/index.ts.",
      ]
    `);
  });
});

describe('the sandbox of a kind', () => {
  it('answers for each upstream that it names, under a name of its own', async () => {
    const named = SANDBOXES.flatMap(({ upstreams }) => upstreams.map(({ name }) => name));
    const sandbox = await startTestSandbox();
    try {
      expect(sandbox.upstreams).toEqual([...named, 'payroll']);
      expect(new Set(sandbox.upstreams).size).toBe(sandbox.upstreams.length);
    } finally {
      await sandbox.stop();
    }
    expect(SANDBOXES.map(({ connector }) => connector.kind).filter((kind) => !KINDS.includes(kind))).toEqual([]);
  });
});
