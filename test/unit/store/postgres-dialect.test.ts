import { describe, expect, it } from 'vitest';
import { inPostgresTypes, numbered } from '../../../src/store/postgres/migrate.ts';

describe('the shared SQL for Postgres', () => {
  it('numbers parameters, and no question mark of a literal, a name or a comment', () => {
    expect(numbered('SELECT a FROM t WHERE b = ? AND c IN (?, ?)')).toBe(
      'SELECT a FROM t WHERE b = $1 AND c IN ($2, $3)',
    );
    expect(numbered(`SELECT '?', 'it''s ?', "a?" FROM t -- why?\nWHERE /* ? */ a = ?`)).toBe(
      `SELECT '?', 'it''s ?', "a?" FROM t -- why?\nWHERE /* ? */ a = $1`,
    );
  });

  it('gives columns room and the order of bytes, and leaves words in comments and names alone', () => {
    expect(
      inPostgresTypes(
        "CREATE TABLE t (\n  a TEXT NOT NULL, -- TEXT; with 'a'\n  b INTEGER, c REAL, d BIGINT, e BLOB\n)",
      ),
    ).toBe('CREATE TABLE t (\n  a TEXT COLLATE "C" NOT NULL, \n  b BIGINT, c DOUBLE PRECISION, d BIGINT, e BYTEA\n)');
  });
});
