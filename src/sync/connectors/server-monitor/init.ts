import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'read-only server-monitor API',
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
