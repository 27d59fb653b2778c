import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'checks of Healthchecks: cron jobs and other jobs that send pings',
  example: {
    id: 'jobs',
    kind: 'healthchecks',
    url: 'https://healthchecks.io',
    apiKey: '${HEALTHCHECKS_KEY}',
  },
  questions: [
    { key: 'url', words: 'Address of Healthchecks', suggestion: 'https://healthchecks.io' },
    { key: 'apiKey', words: 'Environment variable with a read-only API key' },
  ],
};
