/** SMS, through a gateway: short enough for four parts of a message in any script (67 characters each). */

import { throughGateway } from './gateway.ts';

const TEXT_MAX = 4 * 67;

export const sms = throughGateway('sms', TEXT_MAX);
