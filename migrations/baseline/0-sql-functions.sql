-- Which functions of migrations/functions/ the database has, by the hash of their file. See src/database/sql-functions.ts.
CREATE TABLE "sql_functions" (
  "name" varchar(63) NOT NULL,
  "hash" varchar(64) NOT NULL,
  "applied_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_sql_functions" PRIMARY KEY ("name")
);
