/** The Terraform state of the sandbox. */

import type { SandboxKind } from '../../../sandbox/kind.ts';
import { terraform } from './connector.ts';
import { createBackend } from './sandbox/state.ts';

export const terraformSandbox: SandboxKind = {
  connector: terraform,
  upstreams: [
    {
      name: 'terraform',
      ids: ['iac'],
      entry: (url) => ({
        id: terraform.example.id,
        kind: terraform.kind,
        url: `${url}/state`,
        headers: { Authorization: 'Bearer ${IAC_TOKEN}' },
      }),
    },
  ],
  variables: ({ secret }) => ({ IAC_TOKEN: secret('terraform') }),
  start: ({ world, secret }) => ({ terraform: createBackend({ world, token: secret('terraform') }) }),
};
