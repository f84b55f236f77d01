/** $1 now, $2 most events. One statement: an event is marked together with all its deliveries, or not at all. */
export const FAN_OUT = `
  WITH event AS (
    SELECT "id", "organisation_id", "workspace_id", "type"
    FROM "webhook_outbox"
    WHERE "dispatched_at" IS NULL
    ORDER BY "created_at"
    LIMIT $2
    FOR UPDATE SKIP LOCKED
  ), delivery AS (
    INSERT INTO "webhook_deliveries" ("organisation_id", "outbox_id", "endpoint_id", "event_type", "next_attempt_at")
    SELECT event."organisation_id", event."id", endpoint."id", event."type", $1::timestamptz
    FROM event
    JOIN "webhook_endpoints" AS endpoint ON endpoint."organisation_id" = event."organisation_id"
    WHERE endpoint."disabled_at" IS NULL
      AND (endpoint."workspace_id" IS NULL OR endpoint."workspace_id" = event."workspace_id")
      AND endpoint."events" && ARRAY[event."type", '*']::text[]
    FOR KEY SHARE OF endpoint
    ON CONFLICT ("outbox_id", "endpoint_id") DO NOTHING
  )
  UPDATE "webhook_outbox" SET "dispatched_at" = $1::timestamptz FROM event WHERE "webhook_outbox"."id" = event."id"`;

/**
 * $1 now, $2 end of the lease, $3 and $4 endpoints and how many of their deliveries run here, $5 most that may run for one
 * endpoint, $6 to $8 the same for organisations, $9 most to claim. Goes from endpoint to endpoint along one index, and takes
 * from each its own share: a long queue behind one neither hides the others nor makes the look at them slow. Organisations
 * take turns, those with fewer deliveries under way first.
 */
export const CLAIM_DUE = `
  WITH RECURSIVE waiting AS (
    (SELECT "endpoint_id" FROM "webhook_deliveries" WHERE "status" = 'pending' ORDER BY "endpoint_id" LIMIT 1)
    UNION ALL
    SELECT (
      SELECT later."endpoint_id" FROM "webhook_deliveries" AS later
      WHERE later."status" = 'pending' AND later."endpoint_id" > waiting."endpoint_id"
      ORDER BY later."endpoint_id" LIMIT 1
    )
    FROM waiting WHERE waiting."endpoint_id" IS NOT NULL
  ), candidate AS MATERIALIZED (
    SELECT delivery.*
    FROM waiting
    LEFT JOIN unnest($3::uuid[], $4::int[]) AS busy ("endpoint_id", "running") USING ("endpoint_id")
    CROSS JOIN LATERAL (
      SELECT "id", "organisation_id", "next_attempt_at"
      FROM "webhook_deliveries"
      WHERE "endpoint_id" = waiting."endpoint_id" AND "status" = 'pending' AND "next_attempt_at" <= $1::timestamptz
      ORDER BY "next_attempt_at"
      LIMIT GREATEST($5::int - COALESCE(busy."running", 0), 0)
      FOR UPDATE SKIP LOCKED
    ) AS delivery
  ), turn AS (
    SELECT "id", "next_attempt_at", COALESCE(busy."running", 0) + row_number() OVER (
      PARTITION BY "organisation_id" ORDER BY "next_attempt_at"
    ) AS "place"
    FROM candidate
    LEFT JOIN unnest($6::uuid[], $7::int[]) AS busy ("organisation_id", "running") USING ("organisation_id")
  ), due AS MATERIALIZED (
    SELECT "id" FROM turn WHERE "place" <= $8::int ORDER BY "place", "next_attempt_at" LIMIT $9
  )
  UPDATE "webhook_deliveries" AS delivery
  SET "claim_id" = gen_random_uuid(), "next_attempt_at" = $2::timestamptz
  FROM due, "webhook_outbox" AS event, "webhook_endpoints" AS endpoint
  WHERE delivery."id" = due."id" AND event."id" = delivery."outbox_id" AND endpoint."id" = delivery."endpoint_id"
  RETURNING
    delivery."id", delivery."claim_id" AS "claimId", delivery."attempts",
    event."id" AS "eventId", event."type", event."created_at" AS "occurredAt", event."payload"::text AS "data",
    endpoint."id" AS "endpointId", endpoint."organisation_id" AS "organisationId",
    endpoint."workspace_id" AS "workspaceId", endpoint."url", endpoint."disabled_at" AS "disabledAt",
    endpoint."sealed_secret" AS "sealedSecret", endpoint."sealed_previous_secret" AS "sealedPreviousSecret",
    endpoint."previous_secret_valid_until" AS "previousSecretValidUntil"`;
