package sqlite

import (
	"context"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// OpenInSteps opens a file as Open does, and calls step before each statement that makes its tables.
func OpenInSteps(ctx context.Context, path string, step func()) (*Store, error) {
	how := sqlitex.PoolOptions{Flags: zs.OpenReadWrite | zs.OpenCreate, PoolSize: connections + 1, PrepareConn: prepare}
	return open(ctx, path, how, func(s *Store) error {
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
			if err := s.createTables(c); err != nil {
				return err
			}
			return c.SetAuthorizer(nil)
		})
	})
}
