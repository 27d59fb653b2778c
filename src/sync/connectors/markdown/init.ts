import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'incidents, maintenance and announcements written by hand',
  example: { id: 'posts', kind: 'markdown', path: './posts' },
  questions: [{ key: 'path', words: 'Folder of posts', suggestion: './posts' }],
};
