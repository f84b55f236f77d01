-- A sum as a counter holds it: at most 9 × 10^18 (`usage_apply`), and null where there is none. No call comes near it;
-- thousands of absurd ones might.
CREATE OR REPLACE FUNCTION usage_bounded(p_sum numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_sum > 9000000000000000000 THEN 9000000000000000000 WHEN p_sum < -9000000000000000000
    THEN -9000000000000000000 ELSE p_sum END::bigint
$$;
