import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'sources and storage targets of a backup service',
  example: {
    id: 'backups',
    kind: 'backup-control-plane',
    baseUrl: 'https://backup.example.com/api',
    email: 'pharos@example.com',
    password: '${BACKUP_PASSWORD}',
  },
  questions: [
    { key: 'baseUrl', words: 'Address of its API' },
    { key: 'email', words: 'Email address of a read-only user' },
    { key: 'password', words: 'Environment variable with the password' },
  ],
};
