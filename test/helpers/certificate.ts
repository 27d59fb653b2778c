/** Self-signed certificates made when a test needs one, so that no key lies in the repository. */

import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS 8. */
  readonly key: string;
}

/** DER: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const SEQUENCE = 0x30;
const OCTETS = 0x04;
const ECDSA_SHA256 = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');

function time(date: Date): Buffer {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z/, 'Z')
    .replace(/[-:T]/g, '');
  return der(0x18, Buffer.from(digits));
}

function nameOf(host: string): Buffer {
  return der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(host)))));
}

/** An IPv4 address as such, anything else as a DNS name. */
function altNameOf(host: string): Buffer {
  const octets = host.split('.').map(Number);
  const isAddress = octets.length === 4 && octets.every((octet) => Number.isInteger(octet));
  return isAddress ? der(0x87, Buffer.from(octets)) : der(0x82, Buffer.from(host));
}

/** A certificate for one host, valid between two instants, signed by its own key. */
export function makeCertificate(host: string, { from, to }: { readonly from: Date; readonly to: Date }): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const extensions = der(
    0xa3,
    der(SEQUENCE, der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTETS, der(SEQUENCE, altNameOf(host))))),
  );
  const toBeSigned = der(
    SEQUENCE,
    der(0xa0, Buffer.from([0x02, 0x01, 0x02])),
    der(0x02, Buffer.from([0x01])),
    ECDSA_SHA256,
    nameOf(host),
    der(SEQUENCE, time(from), time(to)),
    nameOf(host),
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toBeSigned, privateKey));
  const body = der(SEQUENCE, toBeSigned, ECDSA_SHA256, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${(body.match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
