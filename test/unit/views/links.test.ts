import { describe, expect, it } from 'vitest';
import { ownPicture } from '../../../src/views/frame/shell.ts';

const PAGE = 'https://status.acme.example/acme/';

describe('icons', () => {
  it('are small data pictures or files of the own origin', () => {
    expect(ownPicture('data:image/png;base64,AAAA', PAGE)).toBe('data:image/png;base64,AAAA');
    expect(ownPicture('/logo.svg', PAGE)).toBe('https://status.acme.example/logo.svg');
    expect(ownPicture('logo.svg', PAGE)).toBe('https://status.acme.example/acme/logo.svg');
  });

  it.each([
    null,
    'https://cdn.example/logo.png',
    '//cdn.example/logo.png',
    'http://status.acme.example/logo.png',
    'data:text/html,<script>',
    'data:image/png;base64,"><script>',
    `data:image/png;base64,${'A'.repeat(5_000)}`,
    'javascript:alert(1)',
    'http://169.254.169.254/latest',
  ])('are never %j, which would send visitors elsewhere', (address) => {
    expect(ownPicture(address, PAGE)).toBeNull();
  });
});
