import { describe, expect, it } from 'vitest';
import { didYouMean, nearestName } from '../../src/schema/nearest.ts';

describe('the name that was probably meant', () => {
  const names = ['server-monitor', 'uptime-service', 'api', 'acme/api', 'de'];

  it.each([
    ['server-montior', 'server-monitor'],
    ['servermonitor', 'server-monitor'],
    ['Uptime-Service', 'uptime-service'],
    ['uptime_servise', 'uptime-service'],
    ['apii', 'api'],
    ['ap', 'api'],
    ['pai', 'api'],
    ['acme/pai', 'acme/api'],
    ['dd', 'de'],
  ])('is found for %s', (name, meant) => {
    expect(nearestName(name, names)).toBe(meant);
  });

  it.each(['xyz', 'completely-different', '', 'fr', 'acme/search'])('is none for %s', (name) => {
    expect(nearestName(name, ['api', 'server-monitor', 'de', 'acme/api'])).toBeNull();
  });

  it('is one with a word before it, where none is near', () => {
    expect(nearestName('templates', ['themes', 'incident_templates'])).toBe('incident_templates');
    expect(nearestName('templates', ['incidenttemplates'])).toBeNull();
  });

  it('is the nearest one, and of equally near ones the first', () => {
    expect(nearestName('beta', ['zeta', 'betas', 'beta2'])).toBe('zeta');
    expect(nearestName('betas2', ['zeta', 'betas', 'beta2'])).toBe('betas');
  });

  it('is asked for after a sentence, or nothing is', () => {
    expect(didYouMean('apii', names)).toBe(' Did you mean api?');
    expect(didYouMean('nothing like it', names)).toBe('');
  });
});
