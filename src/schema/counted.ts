/** `1 monitor`, `2 monitors`, `1 query`: of regular plurals, whose last word is the one that changes. */
export function counted(count: number, plural: string): string {
  return `${count} ${count === 1 ? plural.replace(/ies$/, 'y').replace(/s$/, '') : plural}`;
}
