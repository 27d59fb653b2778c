import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'customer lifecycle journeys',
  example: {
    id: 'crm',
    kind: 'customer-journeys',
    tenantBaseUrl: 'https://crm.example.com',
    headers: { Authorization: 'Bearer ${CRM_TOKEN}' },
  },
  questions: [
    { key: 'tenantBaseUrl', words: 'Address of the tenant' },
    { key: 'headers.Authorization', words: 'Environment variable with the token' },
  ],
};
