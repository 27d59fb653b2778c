/** Certificates of one's own, in the configuration as PEM. */

import { X509Certificate } from 'node:crypto';
import { z } from 'zod';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export const CaSchema = z
  .string()
  .refine(areCertificates, 'expected certificates in PEM; read them from a file with "${file:./ca.pem}"');

function areCertificates(text: string): boolean {
  const found = text.match(CERTIFICATE) ?? [];
  return found.length > 0 && found.every(isCertificate);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
