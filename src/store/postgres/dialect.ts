/** The shared SQL as Postgres reads it. */

/**
 * A statement with `$1`, `$2` … where it has `?`. Question marks in literals, quoted names and comments stay.
 */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g, (part) => {
    if (part !== '?') return part;
    count += 1;
    return `$${count}`;
  });
}

/**
 * A migration with the types that give Postgres what SQLite does: text in the order of its bytes whatever the locale of
 * the server, whole numbers of 64 bits, fractions of double precision, and bytes.
 */
export function inPostgresTypes(sql: string): string {
  return sql
    .replace(/--[^\n]*/g, '')
    .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replace(/\bINTEGER\b/g, 'BIGINT')
    .replace(/\bREAL\b/g, 'DOUBLE PRECISION')
    .replace(/\bBLOB\b/g, 'BYTEA');
}
