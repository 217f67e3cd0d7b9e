CREATE TABLE IF NOT EXISTS bedrock_tx (
	id       TEXT    NOT NULL PRIMARY KEY,
	mode     TEXT    NOT NULL,
	name     TEXT    NOT NULL,
	digest   TEXT    NOT NULL,
	status   TEXT    NOT NULL,
	parked   TEXT    NOT NULL,
	waits    TEXT    NOT NULL,
	owner    TEXT    NOT NULL,
	epoch    INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	shard    INTEGER NOT NULL,
	due      INTEGER NOT NULL,
	deadline INTEGER NOT NULL,
	created  INTEGER NOT NULL,
	updated  INTEGER NOT NULL,
	finished INTEGER NOT NULL,
	spec     BLOB,
	state    BLOB
) STRICT;

CREATE INDEX IF NOT EXISTS bedrock_tx_status ON bedrock_tx (status, created, id);

CREATE INDEX IF NOT EXISTS bedrock_tx_due ON bedrock_tx (due, id, shard)
	WHERE due > 0 AND parked = '';

CREATE INDEX IF NOT EXISTS bedrock_tx_waits ON bedrock_tx (waits, due, id) WHERE waits > '';

CREATE INDEX IF NOT EXISTS bedrock_tx_parked ON bedrock_tx (created, id) WHERE parked > '';
