package sqlite

import (
	"context"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// next has the formats of a program that comes after this one: folded counts have another column.
var next = append(thisProgram(), `ALTER TABLE folded ADD COLUMN conversions INTEGER NOT NULL DEFAULT 0; CREATE TABLE note (id INTEGER PRIMARY KEY) STRICT;`)

// OpenNext opens a file like a program of the next format.
func OpenNext(ctx context.Context, path string) (*Store, error) { return openFormats(ctx, path, next) }

// OpenInSteps opens a file as Open does, or as OpenNext does, and calls step before each statement that creates or
// changes its tables.
func OpenInSteps(ctx context.Context, path string, asNext bool, step func()) (*Store, error) {
	f := thisProgram()
	if asNext {
		f = next
	}
	how := sqlitex.PoolOptions{Flags: zs.OpenReadWrite | zs.OpenCreate, PoolSize: connections + 1, PrepareConn: prepare}
	return open(ctx, path, f, how, func(s *Store) error {
		return s.writing(ctx, "open", func(c *zs.Conn) error {
			watch := zs.AuthorizeFunc(func(a zs.Action) zs.AuthResult {
				switch a.Type() {
				case zs.OpCreateTable, zs.OpAlterTable, zs.OpDropTable, zs.OpPragma:
					step()
				}
				return zs.AuthResultOK
			})
			if err := c.SetAuthorizer(watch); err != nil {
				return err
			}
			if err := s.createTables(c, f); err != nil {
				return err
			}
			return c.SetAuthorizer(nil)
		})
	})
}
