/** The Terraform state of the sandbox. */

import { terraform } from '../../../../src/sync/connectors/terraform/connector.ts';
import type { SandboxKind } from '../../kind.ts';
import { createBackend } from './state.ts';

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
