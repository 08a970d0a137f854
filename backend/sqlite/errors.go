package sqlite

import (
	"context"
	"fmt"

	zs "zombiezen.com/go/sqlite"

	"adshard/fault"
	"adshard/internal/ulimit"
)

// failed returns an error of SQLite with a kind and a text that says what to do. For an interruption it returns the
// error of the context.
func failed(ctx context.Context, op, path string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("sqlite: %s: %w", op, context.Cause(ctx))
	}
	kind, advice := diagnose(zs.ErrCode(err))
	if zs.ErrCode(err).ToPrimary() == zs.ResultCantOpen { // SQLite does not give the reason
		if many := ulimit.Advice(ulimit.Reached()); many != "" {
			advice = ": " + many
		}
	}
	return fault.Newf(kind, "sqlite: "+op, "database %s: %w%s", path, err, advice)
}

// diagnosis returns the kind of an error of SQLite.
func diagnosis(err error) fault.Kind {
	kind, _ := diagnose(zs.ErrCode(err))
	return kind
}

func diagnose(code zs.ResultCode) (fault.Kind, string) {
	switch code {
	case zs.ResultIOErrSHMSize, zs.ResultIOErrSHMMap:
		return fault.NoSpace, ": the memory-mapped index could not grow, make room on the disk"
	case zs.ResultConstraintForeignKey:
		return fault.NotFound, ": the owner named does not exist (any more)"
	}
	switch code.ToPrimary() {
	case zs.ResultBusy, zs.ResultLocked:
		return fault.Locked, ": another program is writing to it, try again when that is done"
	case zs.ResultCorrupt, zs.ResultNotADB:
		return fault.Corrupt, ": the file is damaged or not a database, name another one, or restore it from a copy"
	case zs.ResultFull:
		return fault.NoSpace, ": the disk is full, make room and try again"
	case zs.ResultReadOnly, zs.ResultPerm, zs.ResultAuth, zs.ResultCantOpen:
		return fault.Unavailable, ": allow this user to read and write the file and its folder"
	case zs.ResultConstraint, zs.ResultTooBig, zs.ResultMismatch:
		return fault.Invalid, ""
	}
	return fault.Internal, ""
}

// busy reports whether err says that another connection holds the lock.
func busy(err error) bool {
	return zs.ErrCode(err).ToPrimary() == zs.ResultBusy
}
