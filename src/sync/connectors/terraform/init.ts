import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'status pages and monitors as code: plan JSON, state or .tf files',
  example: { id: 'iac', kind: 'terraform', path: './terraform.tfstate' },
  questions: [{ key: 'path', words: 'State, plan or folder', suggestion: './terraform.tfstate' }],
};
