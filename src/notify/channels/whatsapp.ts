/** WhatsApp, through a gateway: a text message there has at most 4,096 characters. */

import { throughGateway } from './gateway.ts';

const TEXT_MAX = 4_096;

export const whatsapp = throughGateway('whatsapp', TEXT_MAX);
