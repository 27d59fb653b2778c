/**
 * Checks the types of every template, which `tsc` cannot read: `node scripts/check-templates.ts [FOLDER]`. The folder is
 * that of `tsconfig.templates.json`, here if none is named. Prints nothing when all is well.
 */

import { resolve } from 'node:path';
import { AstroCheck } from '@astrojs/language-server';

const root = resolve(process.argv[2] ?? '.');
// It brings the last TypeScript with an API for tools; `overrides` in package.json says which.
const checker = new AstroCheck(root, undefined, 'tsconfig.templates.json');
const templates = checker.linter.getRootFileNames().filter((path) => path.endsWith('.astro'));
if (templates.length === 0) throw new Error(`There are no templates below ${root}`);
const { errors, warnings, hints } = await checker.lint({ fileNames: templates, logErrors: { level: 'hint' } });
if (errors + warnings + hints > 0) process.exitCode = 1;
