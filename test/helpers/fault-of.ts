import { isStatusError, type StatusError } from '../../src/errors.ts';

/** The error of a promise that must fail with one of ours; anything else fails the test. */
export async function faultOf(promise: Promise<unknown>): Promise<StatusError> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (isStatusError(error)) return error;
    throw error;
  }
  throw new Error(`it did not fail, but gave ${JSON.stringify(value)?.slice(0, 200)}`);
}
