import { z } from 'zod';
import { Secret } from '../schema/secret.ts';

/** The address of a Postgres database; it carries a password, so it is closed at once. */
export const StoreUrlSchema = z
  .string()
  .refine(isPostgresUrl, 'expected postgres://user:password@host:5432/database')
  .transform((url) => new Secret(url));

function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
}
