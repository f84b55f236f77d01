-- Sums of the ledger by hour and by day, so that a report need not read every call. A unit ("q_…") is null where no call of
-- the group has a figure of it.

-- What has not been added to the sums yet. It is only ever read as a whole, and then emptied.
CREATE TABLE "usage_rollup_changes" (
  "hour" timestamptz NOT NULL,
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "api_key_id" varchar(255) NOT NULL,
  "virtual_key" varchar(255),
  "provider" varchar(64),
  "model" varchar(255),
  "endpoint" varchar(64) NOT NULL,
  "mcp_server" varchar(255),
  "mcp_tool" varchar(255),
  "calls" bigint NOT NULL,
  "presumed_calls" bigint NOT NULL,
  "failed_calls" bigint NOT NULL,
  "cost_nano" bigint NOT NULL,
  "tokens" bigint NOT NULL,
  "q_input" bigint,
  "q_cache_read" bigint,
  "q_cache_write_5m" bigint,
  "q_cache_write_1h" bigint,
  "q_output" bigint,
  "q_input_audio" bigint,
  "q_output_audio" bigint,
  "q_input_image" bigint,
  "q_output_image" bigint,
  "q_search_unit" bigint,
  "q_request" bigint,
  "q_web_search" bigint,
  "q_audio_second" bigint,
  "q_image" bigint,
  "q_training" bigint
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

CREATE TABLE "usage_rollup_groups" (
  "id" uuid NOT NULL,
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "api_key_id" varchar(255) NOT NULL,
  "virtual_key" varchar(255),
  "provider" varchar(64),
  "model" varchar(255),
  "endpoint" varchar(64) NOT NULL,
  "mcp_server" varchar(255),
  "mcp_tool" varchar(255),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_usage_rollup_groups" PRIMARY KEY ("id")
);
CREATE INDEX "ix_usage_rollup_groups_organisation" ON "usage_rollup_groups" ("organisation_id");

-- Rows of the hour and of the day are changed many times: with room in their page, no index is touched.
CREATE TABLE "usage_rollups" (
  "organisation_id" uuid NOT NULL,
  "hours" smallint NOT NULL,
  "start" timestamptz NOT NULL,
  "group_id" uuid NOT NULL,
  "calls" bigint NOT NULL,
  "presumed_calls" bigint NOT NULL,
  "failed_calls" bigint NOT NULL,
  "cost_nano" bigint NOT NULL,
  "tokens" bigint NOT NULL,
  "q_input" bigint,
  "q_cache_read" bigint,
  "q_cache_write_5m" bigint,
  "q_cache_write_1h" bigint,
  "q_output" bigint,
  "q_input_audio" bigint,
  "q_output_audio" bigint,
  "q_input_image" bigint,
  "q_output_image" bigint,
  "q_search_unit" bigint,
  "q_request" bigint,
  "q_web_search" bigint,
  "q_audio_second" bigint,
  "q_image" bigint,
  "q_training" bigint,
  CONSTRAINT "pk_usage_rollups" PRIMARY KEY ("organisation_id", "hours", "start", "group_id")
) WITH (fillfactor = 70);

-- Each statement that changes the ledger notes what it changed. The argument says whether rows came (1) or went (-1).
CREATE TRIGGER "usage_rollups_inserted" AFTER INSERT ON "usage_events" REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION usage_count_rollups('1');
CREATE TRIGGER "usage_rollups_updated_to" AFTER UPDATE ON "usage_events" REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION usage_count_rollups('1');
CREATE TRIGGER "usage_rollups_updated_from" AFTER UPDATE ON "usage_events" REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION usage_count_rollups('-1');
CREATE TRIGGER "usage_rollups_deleted" AFTER DELETE ON "usage_events" REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION usage_count_rollups('-1');
