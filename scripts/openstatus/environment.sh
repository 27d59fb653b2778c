# Sourced before the programs here, and before the server of openstatus, are started. Nothing in it is a secret.
# WORK: an empty folder of yours. CLOCK_LIBRARY: the library of Debian's package faketime, for threads.
: "${WORK:?set WORK to an empty folder}"
CLOCK_LIBRARY="${CLOCK_LIBRARY:-/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1}"
export WORK CLOCK_LIBRARY CLOCK="$WORK/clock" DAYS="$WORK/days.json"

# What the server asks for before it starts. Its database is a file, its cloud services are clouds.mjs.
export DATABASE_URL="file:$WORK/openstatus.db" TINYBIRD_URL=http://127.0.0.1:7181 UPSTASH_REDIS_REST_URL=http://127.0.0.1:7181
export SELF_HOST=true NODE_ENV=production FLY_REGION=ams SCREENSHOT_SERVICE_URL=http://127.0.0.1:9
for name in DATABASE_AUTH_TOKEN UNKEY_TOKEN UNKEY_API_ID TINY_BIRD_API_KEY UPSTASH_REDIS_REST_TOKEN QSTASH_TOKEN RESEND_API_KEY \
  NEXT_PUBLIC_OPENPANEL_CLIENT_ID OPENPANEL_CLIENT_SECRET AXIOM_TOKEN AXIOM_DATASET SUPER_ADMIN_TOKEN CRON_SECRET \
  STRIPE_SECRET_KEY PROJECT_ID_VERCEL TEAM_ID_VERCEL VERCEL_AUTH_BEARER_TOKEN; do
  export "$name=none"
done

echo "@2026-11-21 08:00:00" > "$CLOCK"
[ -f "$DAYS" ] || echo '{"days":{},"metrics":{}}' > "$DAYS"

# Runs a program by the clock of that file.
clocked() {
  LD_PRELOAD="$CLOCK_LIBRARY" FAKETIME_TIMESTAMP_FILE="$CLOCK" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 "$@"
}
