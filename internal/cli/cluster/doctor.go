package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/access"
	"adshard/internal/node/doctor"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/progress"
	"adshard/internal/wait"
)

// noPort stands for the address of a port that is not to be queried.
const noPort = "none"

type doctorFlags struct {
	admin  apiclient.AdminFlags
	http   string
	admins []string
	over   time.Duration
}

// DoctorCommand returns the command that finds out what is wrong with a cluster.
func DoctorCommand(s cmdline.Streams) *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with a running cluster, and how to fix it",
		Long: `Says what is wrong with a running cluster, the most harmful first: each finding with
what it does to the cluster, how to fix it, the alert and the section of the runbook
that mean the same, and what else it explains. It makes one search, and changes nothing.

Counters of all processes that --addr and --admins name are read twice, --over apart:
what grows only when something is wrong is found when it does so meanwhile.

Exit status 0: nothing is wrong; 1: something is, or no answer came.`,
		Example: `  adshard doctor
  adshard doctor --addr 10.0.0.5:7001 --http 10.0.0.7:8080 --admins 10.0.0.7:8081,10.0.0.8:7101
  adshard doctor --json | jq -r '.findings[0].what'`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("addr") && !c.Flags().Changed("http") {
				f.http = noPort // the port on this machine may belong to another cluster
			}
			return runDoctor(c.Context(), &f, s)
		},
	}
	f.admin.Add(c)
	c.Flags().StringVar(&f.http, "http", apiclient.DefaultHTTP, "a master's address for queries, for one search; with --addr: none")
	c.Flags().StringSliceVar(&f.admins, "admins", nil, "admin addresses of further processes: masters, slaves, collectors")
	c.Flags().DurationVar(&f.over, "over", 2*time.Second, "the time between the two readings of counters; 0: one reading")
	return c
}

func runDoctor(ctx context.Context, f *doctorFlags, s cmdline.Streams) error {
	if f.over < 0 || f.over > time.Hour {
		return cmdline.WrongUse("--over %s: it is 0 to 1h", f.over)
	}
	d, err := newDoctor(f)
	if err != nil {
		return err
	}
	defer d.close()
	bar := progress.OnTerminal(s.Err)
	bar.Show(fmt.Sprintf("asking %d ports, twice in %s", len(d.admins), f.over), "")
	report, err := d.examine(ctx, f.over)
	bar.End()
	if err != nil {
		return err
	}
	if f.admin.JSON {
		err = cmdline.PrintJSON(s, report)
	} else {
		err = showReport(s, report)
	}
	if err == nil && !report.Healthy {
		err = cmdline.ErrUnhealthy
	}
	return err
}

// asker queries the ports of a cluster.
type asker struct {
	queries *apiclient.Client // nil if there is none
	admins  []*apiclient.Client
}

func newDoctor(f *doctorFlags) (*asker, error) {
	a := new(asker)
	for _, addr := range append([]string{f.admin.Addr}, f.admins...) {
		c, err := apiclient.New(addr, doctor.Wait, &f.admin.Caller,
			access.Balancer, access.Master, access.Slave, access.Distributor, access.Collector)
		if err != nil {
			a.close()
			return nil, err
		}
		a.admins = append(a.admins, c)
	}
	if f.http == noPort {
		return a, nil
	}
	caller := f.admin.Caller
	caller.TokenFile = "" // the token is for admin ports
	var err error
	if a.queries, err = apiclient.New(f.http, doctor.Wait, &caller, access.Master, access.Balancer); err != nil {
		a.close()
	}
	return a, err
}

func (a *asker) close() {
	for _, c := range a.admins {
		c.Close()
	}
	if a.queries != nil {
		a.queries.Close()
	}
}

// examine looks at the cluster twice, and makes a search meanwhile. It returns an error only for a caller who may not
// ask.
func (a *asker) examine(ctx context.Context, over time.Duration) (*doctor.Report, error) {
	var probe *doctor.Probe
	var before *doctor.Look
	all, both := errgroup.WithContext(ctx)
	all.Go(func() (err error) { probe, err = a.probe(both); return err })
	all.Go(func() (err error) { before, err = a.look(both, nil); return err })
	if err := all.Wait(); err != nil {
		return nil, err
	}
	now := before
	if over > 0 {
		err := wait.Sleep(ctx, time.Until(before.At.Add(over)))
		if err == nil {
			now, err = a.look(ctx, before)
		}
		if err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // missing answers were caused by the interruption
	}
	report := &doctor.Report{Findings: append([]doctor.Finding{}, doctor.Examine(before, now, probe)...)}
	report.Healthy = len(report.Findings) == 0
	for _, c := range a.admins {
		report.Asked = append(report.Asked, c.Base.String())
	}
	if a.queries != nil {
		report.Asked = append(report.Asked, a.queries.Base.String())
	}
	return report, nil
}

// probe searches for an arbitrary word, which queries all shards.
func (a *asker) probe(ctx context.Context) (*doctor.Probe, error) {
	if a.queries == nil {
		return nil, nil
	}
	p := &doctor.Probe{Address: a.queries.Base.String()}
	var answer api.SearchAnswer
	if err := a.queries.Fetch(ctx, "/v1/search", url.Values{"q": {"doctor"}, "timeout_ms": {"1500"}}, &answer); err != nil {
		p.Failed, p.Silence = err.Error(), silenceOf(err)
		return p, refusal(err)
	}
	p.Answer = &answer
	return p, nil
}

// look queries all ports at the same time, so that a port that hangs does not delay the others. A port that hung at the look before, if
// there was one, is not asked again.
func (a *asker) look(ctx context.Context, before *doctor.Look) (*doctor.Look, error) {
	look := &doctor.Look{At: time.Now(), Ports: make([]doctor.Port, len(a.admins))}
	all, ctx := errgroup.WithContext(ctx)
	if before != nil && before.Hung {
		look.Unled, look.Hung = before.Unled, true
	} else {
		all.Go(func() error { return a.balancer(ctx, look) })
	}
	for i, c := range a.admins {
		if before != nil && tookTime(before.Ports[i].Silence) {
			look.Ports[i] = before.Ports[i]
			continue
		}
		all.Go(func() (err error) { look.Ports[i], err = portOf(ctx, c); return err })
	}
	return look, all.Wait()
}

// balancer queries the balancer for its status and slaves. It returns an error only for a caller who may not ask.
func (a *asker) balancer(ctx context.Context, look *doctor.Look) error {
	var status api.BalanceStatus
	var slaves api.SlaveList
	var both errgroup.Group
	both.Go(func() error { return a.admins[0].Fetch(ctx, "/v1/balance", nil, &status) })
	both.Go(func() error { return a.admins[0].Fetch(ctx, "/v1/slaves", nil, &slaves) })
	if err := both.Wait(); err != nil {
		look.Unled, look.Hung = plainly(err), tookTime(silenceOf(err))
		return refusal(err)
	}
	look.Status, look.Slaves = &status, &slaves
	return nil
}

// portOf queries an admin port for what all admin ports have. It returns an error only for a caller who may not ask.
func portOf(ctx context.Context, c *apiclient.Client) (doctor.Port, error) {
	p := doctor.Port{Address: c.Base.String()}
	var both errgroup.Group
	both.Go(func() error {
		page, err := c.Get(ctx, "/metrics", nil)
		p.At, p.Metrics = time.Now(), doctor.ReadMetrics(string(page))
		return err
	})
	both.Go(func() (err error) { p.NotReady, err = notReady(ctx, c); return err })
	err := both.Wait()
	if err != nil {
		p.Failed, p.Silence = plainly(err), silenceOf(err)
	}
	return p, refusal(err)
}

// plainly returns why a port did not answer, in fewer words than for a person who names one address.
func plainly(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nothing listens there"
	}
	return err.Error()
}

// silenceOf returns why a port did not answer.
func silenceOf(err error) doctor.Silence {
	var (
		name *net.DNSError
		late net.Error
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return doctor.Closed
	case errors.As(err, &name):
		return doctor.Nameless
	case apiclient.CutOff(err):
		return doctor.CutOff
	case errors.As(err, &late) && late.Timeout():
		return doctor.Hung
	}
	return doctor.Strange
}

// tookTime reports whether a port was waited for, which need not be done again.
func tookTime(s doctor.Silence) bool { return s == doctor.Hung || s.Elsewhere() }

// notReady returns why a process is not ready, or "" if it is.
func notReady(ctx context.Context, c *apiclient.Client) (string, error) {
	res, err := c.Open(ctx, http.MethodGet, c.Base.JoinPath("/readyz"), nil, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	switch {
	case err != nil:
		return "", c.Unreachable(err)
	case res.StatusCode == http.StatusOK:
		return "", nil
	case res.StatusCode != http.StatusServiceUnavailable:
		return "", c.Refused(res.StatusCode, body)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(body)), "not ready: "), nil
}

// refusal returns the error of a caller who may not ask, or asks wrongly, and nil for all other errors.
func refusal(err error) error {
	var usage *cmdline.UsageError
	if errors.As(err, &usage) {
		return err
	}
	return nil
}

func showReport(s cmdline.Streams, r *doctor.Report) error {
	switch n := len(r.Findings); n {
	case 0:
		fmt.Fprintln(s.Out, "Nothing is wrong.")
	case 1:
		fmt.Fprintln(s.Out, "One thing is wrong:")
	default:
		fmt.Fprintf(s.Out, "%d things are wrong, the most harmful first:\n", n)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(s.Out, "\n%d. %s\n   do: %s\n", i+1, terminal.Printable(f.What), terminal.Printable(f.Do))
		for j := range f.Follows {
			fmt.Fprintf(s.Out, "   explains: %s\n", terminal.Printable(f.Follows[j].What))
		}
		fmt.Fprintf(s.Out, "   harm: %s; %s, %s\n", f.Harm, f.Alert, f.Runbook)
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(s.Out)
	}
	_, err := fmt.Fprintf(s.Out, "Asked: %s\n", strings.Join(r.Asked, ", "))
	return err
}
