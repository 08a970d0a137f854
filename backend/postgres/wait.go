package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/internal/wait"
)

// Wait implements backend.Feed. All waiting callers share one connection, on which the server notifies them of
// commits.
func (s *Store) Wait(ctx context.Context, after backend.Position) error {
	s.listening.Do(func() { s.work.Go(s.listen) })
	return s.waiter.Wait(ctx, after)
}

// listenAgain is how long the listener waits before it connects again.
const listenAgain = 200 * time.Millisecond

// listen wakes waiting callers until the store is closed. While it has no connection, they poll.
func (s *Store) listen() {
	for s.ctx.Err() == nil {
		_ = s.notified() // the connection has ended, whatever the reason
		_ = wait.Sleep(s.ctx, listenAgain)
	}
}

func (s *Store) notified() error {
	c, err := pgx.ConnectConfig(s.ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(s.ctx))
	if _, err := c.Exec(s.ctx, "LISTEN adshard_clock"); err != nil {
		return err
	}
	for {
		s.waiter.Notify() // at first for what was committed before
		if _, err := c.WaitForNotification(s.ctx); err != nil {
			return err
		}
	}
}
