package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"adshard/fault"
	"adshard/internal/pgserver"
)

// failed returns an error of PostgreSQL or its connection with a kind and a text that says what to do. If ctx is
// done, it returns the cause of ctx. Errors that have a kind are returned as they are.
func (s *Store) failed(ctx context.Context, op string, err error) error {
	return failed(ctx, op, s.name, err)
}

func failed(ctx context.Context, op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("postgres: %s: %w", op, context.Cause(ctx))
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	if kind, advice := pgserver.Diagnose(err); advice != "" {
		return fault.Newf(kind, "postgres: "+op, "database %s: %w: %s", name, err, advice)
	}
	kind, advice := fault.Unavailable, ": see whether the server runs and can be reached"
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		kind, advice = diagnose(answer.Code)
	}
	return fault.Newf(kind, "postgres: "+op, "database %s: %w%s", name, err, advice)
}

// notPermitted is the SQLSTATE of what the role may not do.
const notPermitted = "42501"

// missesTables reports whether an SQLSTATE says that a schema, table or function does not exist.
func missesTables(code string) bool { return code == "3F000" || code == "42P01" || code == "42883" }

// diagnose returns the kind of error for an SQLSTATE, and advice on what to do.
func diagnose(code string) (fault.Kind, string) {
	if missesTables(code) {
		return fault.Corrupt, ": the schema adshard is not whole, restore it from a backup"
	}
	switch code {
	case "55P03", "40P01", "40001", "23505": // lock timeout, deadlock, serialization, unique
		return fault.Locked, ": another transaction is writing the same, try again when that is done"
	case "23503": // foreign key
		return fault.NotFound, ": the owner named does not exist (any more)"
	case ofOtherWords:
		return fault.Version, ": start the program of the newer version"
	case "53100":
		return fault.NoSpace, ": the server's disk is full, make room and try again"
	case notPermitted:
		return fault.Unavailable, ": grant this role what `adshard db roles` lists"
	case "25006":
		return fault.Unavailable, ": this server is a standby, name the primary too"
	case "3D000":
		return fault.NotFound, ": make it first (createdb)"
	}
	switch code[:min(2, len(code))] {
	case "22", "23", "54": // data, constraints, limits
		return fault.Invalid, ""
	case "28":
		return fault.Unavailable, ": see the role, its password file and pg_hba.conf"
	case "XX", "58":
		return fault.Corrupt, ": see the server's log; restore the database from a backup if it is damaged"
	case "08", "53", "55", "57":
		return fault.Unavailable, ": try again later"
	}
	return fault.Internal, ""
}
