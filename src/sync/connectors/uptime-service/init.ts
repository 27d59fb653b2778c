import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'monitors and status pages of openstatus (preset: openstatus), or of another uptime service',
  example: {
    id: 'svc',
    kind: 'uptime-service',
    preset: 'openstatus',
    rpcUrl: 'https://uptime.example.com/rpc',
    restUrl: 'https://uptime.example.com/v1',
    apiKey: '${SVC_KEY}',
  },
  questions: [
    { key: 'preset', words: 'Which API does it have? (openstatus, document)', suggestion: 'openstatus' },
    { key: 'rpcUrl', words: 'Address of its RPC API, such as https://api.openstatus.dev/rpc' },
    {
      key: 'restUrl',
      words: 'Address of its REST API (empty: with openstatus, /v1 at the same host; otherwise none)',
      suggestion: '',
    },
    { key: 'apiKey', words: 'Environment variable with a read-only key' },
  ],
};
