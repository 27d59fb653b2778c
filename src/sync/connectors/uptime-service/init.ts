import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'uptime service with RPC, or openstatus itself (preset: openstatus)',
  example: {
    id: 'svc',
    kind: 'uptime-service',
    rpcUrl: 'https://uptime.example.com/rpc',
    restUrl: 'https://uptime.example.com/v1',
    apiKey: '${SVC_KEY}',
  },
  questions: [
    { key: 'rpcUrl', words: 'Address of its RPC API' },
    { key: 'restUrl', words: 'Address of its REST API (empty: beside the RPC API)', suggestion: '' },
    { key: 'apiKey', words: 'Environment variable with its key' },
  ],
};
