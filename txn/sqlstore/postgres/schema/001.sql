CREATE TABLE IF NOT EXISTS bedrock_tx (
	id       TEXT     COLLATE "C" NOT NULL PRIMARY KEY,
	mode     TEXT     COLLATE "C" NOT NULL,
	name     TEXT     COLLATE "C" NOT NULL,
	digest   TEXT     COLLATE "C" NOT NULL,
	status   TEXT     COLLATE "C" NOT NULL,
	parked   TEXT     COLLATE "C" NOT NULL,
	waits    TEXT     COLLATE "C" NOT NULL,
	owner    TEXT     COLLATE "C" NOT NULL,
	epoch    BIGINT   NOT NULL,
	revision BIGINT   NOT NULL,
	shard    SMALLINT NOT NULL,
	due      BIGINT   NOT NULL,
	deadline BIGINT   NOT NULL,
	created  BIGINT   NOT NULL,
	updated  BIGINT   NOT NULL,
	finished BIGINT   NOT NULL,
	spec     BYTEA,
	state    BYTEA
);

CREATE INDEX IF NOT EXISTS bedrock_tx_status ON bedrock_tx (status, created, id);

CREATE INDEX IF NOT EXISTS bedrock_tx_due ON bedrock_tx (due, id, shard)
	WHERE due > 0 AND parked = '' AND COALESCE(status, '') IN ('open', 'running', 'committing', 'rolling-back');

CREATE INDEX IF NOT EXISTS bedrock_tx_waits ON bedrock_tx (waits, due, id) WHERE waits > '';

CREATE INDEX IF NOT EXISTS bedrock_tx_parked ON bedrock_tx (created, id) WHERE parked > '';
