import { en } from './en.ts';
import type { Words } from './types.ts';

export const ptBr: Words = { ...en };
