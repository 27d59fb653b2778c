import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'monitors of an UptimeRobot account',
  example: { id: 'robot', kind: 'uptimerobot', apiKey: '${UPTIMEROBOT_KEY}' },
  questions: [{ key: 'apiKey', words: 'Environment variable with a read-only API key' }],
};
