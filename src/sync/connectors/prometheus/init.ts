import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'Prometheus queries with thresholds, and alerts from Alertmanager as incidents',
  example: {
    id: 'metrics',
    kind: 'prometheus',
    url: 'https://prometheus.example.com',
    monitors: [{ id: 'api', name: 'API', query: 'probe_success{job="api"}', up: '>0' }],
  },
  questions: [{ key: 'url', words: 'Address of Prometheus' }],
};
