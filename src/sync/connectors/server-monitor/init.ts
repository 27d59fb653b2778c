import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'monitors of a server-monitor API, read-only',
  example: {
    id: 'edge',
    kind: 'server-monitor',
    baseUrl: 'https://monitor.example.com/api',
    apiKey: '${EDGE_KEY}',
  },
  questions: [
    { key: 'baseUrl', words: 'Address of its API' },
    { key: 'apiKey', words: 'Environment variable with its key' },
  ],
};
