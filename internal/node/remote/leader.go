package remote

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/loadproxy"
	"adshard/schema/pb"
	"adshard/search/words"
)

const (
	// leadPoll is the time between two rounds of asking all balancers which of them leads. leadTime
	// is the time within which they must answer.
	leadPoll = 250 * time.Millisecond
	leadTime = time.Second
)

// Leader makes calls to the balancer that leads a cluster. A call to a leader that has been replaced
// ends with fault.Unavailable, even if no answer ever arrives; the next call goes to its successor.
// With a single address, calls always go to the balancer there. Call Close when done.
type Leader struct {
	all  []Balancer // in the order of the addresses
	own  *certs.Credentials
	in   words.Languages
	stop context.CancelFunc
	done sync.WaitGroup

	mu  sync.Mutex
	now *leading // guarded by mu
}

// leading is a balancer during the time that it leads.
type leading struct {
	Balancer
	ctx context.Context // ends when another balancer leads
	end context.CancelCauseFunc
}

// errFollowed is the cause with which calls to a former leader end.
var errFollowed = errors.New("another balancer leads now; ask again")

// Addresses splits a comma-separated list of HOST:PORT.
func Addresses(list string) []string {
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// Find returns the leader among the balancers at a list of addresses (Addresses). Until it is known
// which one leads, calls go to the first. `own` has the credentials of the process, whose words have stems in these
// languages.
func Find(list string, languages words.Languages, own *certs.Credentials, log *slog.Logger) (*Leader, error) {
	l := &Leader{own: own, in: languages}
	for _, address := range Addresses(list) {
		conn, err := wire.DialIn(languages, address, own.To("", access.Balancer)...)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.all = append(l.all, Balancer{conn, own, languages})
	}
	l.now = l.lead(0)
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	if len(l.all) > 1 {
		l.done.Go(func() { l.watch(ctx, log) })
	}
	return l, nil
}

func (l *Leader) lead(i int) *leading {
	ctx, end := context.WithCancelCause(context.Background())
	return &leading{l.all[i], ctx, end}
}

// Close ends all calls and connections.
func (l *Leader) Close() error {
	l.stop()
	l.done.Wait()
	l.current().end(errFollowed)
	return l.close()
}

func (l *Leader) close() error {
	var errs []error
	for _, b := range l.all {
		errs = append(errs, b.Conn.Close())
	}
	return errors.Join(errs...)
}

func (l *Leader) current() *leading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// watch repeatedly asks all balancers which of them leads. If none answers, it keeps the last leader.
func (l *Leader) watch(ctx context.Context, log *slog.Logger) {
	known := uint64(0)
	for {
		call, cancel := context.WithTimeout(ctx, leadTime)
		i, epoch, ok := l.ask(call, known)
		cancel()
		if ok {
			known = epoch
		}
		if ok && l.all[i] != l.current().Balancer {
			before, next := l.current(), l.lead(i)
			l.mu.Lock()
			l.now = next
			l.mu.Unlock()
			before.end(errFollowed)
			log.Info("a balancer leads", "address", l.all[i].Conn.Target(), "epoch", epoch)
		}
		if wait.Sleep(ctx, leadPoll) != nil {
			return
		}
	}
}

// ask returns the balancer that leads: the one with the highest epoch among those that answer or, if
// `known` is not 0, the first that answers with a higher epoch than `known`. So a former leader that
// hangs does not delay calls.
func (l *Leader) ask(ctx context.Context, known uint64) (leads int, epoch uint64, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		i     int
		epoch uint64 // 0 if it does not lead or does not answer
	}
	answers := make(chan answer, len(l.all))
	for i, b := range l.all {
		b.Conn.ResetConnectBackoff() // it may lead as soon as it is back
		l.done.Go(func() {
			reply, err := pb.NewBalancerClient(b.Conn).Lead(ctx, &pb.LeadRequest{})
			if err != nil {
				reply = nil
			}
			answers <- answer{i, reply.GetEpoch()}
		})
	}
	for range l.all {
		a := <-answers
		if a.epoch > epoch {
			leads, epoch, ok = a.i, a.epoch, true
		}
		if known > 0 && epoch > known {
			break
		}
	}
	return leads, epoch, ok
}

// asking makes a call to the leader. The call ends when another balancer leads.
func asking[Q, R any](l *Leader, ctx context.Context, q Q, call func(Balancer, context.Context, Q) (R, error)) (R, error) {
	to := l.current()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(to.ctx, func() { cancel(errFollowed) })()
	r, err := call(to.Balancer, ctx, q)
	if err != nil && errors.Is(context.Cause(ctx), errFollowed) {
		err = fault.New(fault.Unavailable, "balancer", errFollowed)
	}
	return r, err
}

// Register implements loadproxy.Balancer.
func (l *Leader) Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	return asking(l, ctx, r, Balancer.Register)
}

// Report implements loadproxy.Balancer.
func (l *Leader) Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	return asking(l, ctx, r, Balancer.Report)
}

// WatchMap implements fanout.Source.
func (l *Leader) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	return asking(l, ctx, r, Balancer.WatchMap)
}

// EventKeys returns the keys with which masters sign event tokens.
func (l *Leader) EventKeys(ctx context.Context, r *pb.EventKeysRequest) (*pb.EventKeysResponse, error) {
	return asking(l, ctx, r, Balancer.EventKeys)
}

// WatchDocuments implements documents.Source.
func (l *Leader) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	return asking(l, ctx, r, Balancer.WatchDocuments)
}

// DocumentPart implements documents.Source.
func (l *Leader) DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
	return asking(l, ctx, r, Balancer.DocumentPart)
}

// Quanta asks for the quanta that follow the last one that a distributor has.
func (l *Leader) Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	return asking(l, ctx, r, Balancer.Quanta)
}

// Distributor implements loadproxy.Balancer. "" stands for the leader's own distributor; each call
// goes to the balancer that leads at that time.
func (l *Leader) Distributor(address string) (loadproxy.Distributor, func() error, error) {
	if address == "" {
		return ownDistributor{l}, func() error { return nil }, nil
	}
	return Balancer{Own: l.own, Languages: l.in}.Distributor(address)
}

// ownDistributor is the distributor of the balancer that leads.
type ownDistributor struct{ of *Leader }

// own turns a call to a distributor into a call to the balancer that contains it.
func own[Q, R any](call func(Distributor, context.Context, Q) (R, error)) func(Balancer, context.Context, Q) (R, error) {
	return func(b Balancer, ctx context.Context, q Q) (R, error) { return call(Distributor{b.Conn}, ctx, q) }
}

// Enlist implements loadproxy.Distributor.
func (d ownDistributor) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	return asking(d.of, ctx, r, own(Distributor.Enlist))
}

// Pull implements loadproxy.Distributor.
func (d ownDistributor) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	return asking(d.of, ctx, r, own(Distributor.Pull))
}

// Part implements loadproxy.Distributor.
func (d ownDistributor) Part(ctx context.Context, r *pb.PartRequest) (*pb.PartResponse, error) {
	return asking(d.of, ctx, r, own(Distributor.Part))
}

// Verify implements loadproxy.Distributor.
func (d ownDistributor) Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error) {
	return asking(d.of, ctx, r, own(Distributor.Verify))
}
