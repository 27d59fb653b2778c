import type { Introduction } from '../../connector.ts';

export const INTRODUCTION: Introduction = {
  title: 'queries of a Prometheus with thresholds, and alerts of its Alertmanager as incidents',
  example: {
    id: 'metrics',
    kind: 'prometheus',
    url: 'https://prometheus.example.com',
    monitors: [{ id: 'api', name: 'API', query: 'probe_success{job="api"}', up: '>0' }],
  },
  questions: [{ key: 'url', words: 'Address of the Prometheus' }],
};
