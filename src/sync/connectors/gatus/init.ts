import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'endpoints of Gatus',
  example: { id: 'gatus', kind: 'gatus', url: 'https://gatus.example.com' },
  questions: [{ key: 'url', words: 'Address of Gatus' }],
};
