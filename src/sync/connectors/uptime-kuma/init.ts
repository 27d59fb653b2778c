import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'a status page of Uptime Kuma and, with a key, its other monitors',
  example: {
    id: 'kuma',
    kind: 'uptime-kuma',
    url: 'https://kuma.example.com',
    page: 'default',
    apiKey: '${KUMA_KEY}',
  },
  questions: [
    { key: 'url', words: 'Address of Uptime Kuma' },
    { key: 'page', words: 'Slug of its status page', suggestion: 'default' },
    {
      key: 'apiKey',
      words: 'Environment variable with an API key, for monitors that are on no page (empty: none)',
      suggestion: '',
    },
  ],
};
