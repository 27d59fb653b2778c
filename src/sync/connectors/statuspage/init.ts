import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'any page with the Statuspage v2 API: a vendor you depend on, or another Pharos',
  example: { id: 'vendor', kind: 'statuspage', url: 'https://status.example.com' },
  questions: [{ key: 'url', words: 'Address of the status page' }],
};
