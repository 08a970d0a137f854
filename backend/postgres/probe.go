package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"adshard/fault"
	"adshard/internal/pgserver"
)

// Probe checks whether Open would open the database at url. It returns the database's id and the value of a control
// key, or "" and nil if the version of the schema is older, so that Open would migrate it. It does not create, change
// or migrate anything. It returns the same errors as Open.
func Probe(ctx context.Context, url, key string) (id string, value []byte, err error) {
	url, _, err = withoutReplica(url)
	if err != nil {
		return "", nil, err
	}
	cfg, name, err := parse(url)
	if err != nil {
		return "", nil, err
	}
	c, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return "", nil, failed(ctx, "open", name, err)
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	if err := pgserver.Check(c); err != nil {
		return "", nil, err
	}
	version, _, err := stored(ctx, c, name, Options{})
	switch {
	case err != nil:
		return "", nil, failed(ctx, "open", name, err)
	case version == 0:
		return "", nil, noSchema(name)
	case !supported(version, thisSchema()):
		return "", nil, otherSchema(name, version)
	case version < schemaVersion:
		return "", nil, nil
	}
	err = c.QueryRow(ctx, "SELECT database_id FROM adshard.state").Scan(&id)
	if err == nil {
		value, err = control(ctx, c, key)
	}
	return id, value, failed(ctx, "open", name, err)
}

// supported reports whether a database of a version can be opened, perhaps after migrations.
func supported(version int64, s schema) bool {
	return version == keptSchema || version >= firstSchema && version <= s.version
}

func otherSchema(name string, version int64) error {
	use := "use a newer program"
	if version < firstSchema {
		use = "open it once with a program that brings it to version " + strconv.Itoa(keptSchema)
	}
	return fault.Newf(fault.Version, "postgres: open", "database %s has schema version %d, this program supports %d, and %d to %d: %s",
		name, version, keptSchema, firstSchema, schemaVersion, use)
}

func noSchema(name string) error {
	return fault.Newf(fault.NotFound, "postgres: open", "database %s has no data of adshard: `adshard import` makes the schema", name)
}
