package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/outfile"
	"adshard/internal/shell"
)

// certFlags are the flags of all commands that make certificates.
type certFlags struct {
	dir      string
	lifetime time.Duration
	outcome  cmdline.Outcome
}

type certJSON struct {
	Cert string `json:"cert"` // file of the certificate; Key is the file of its key
	Key  string `json:"key"`
}

func (f *certFlags) add(c *cobra.Command, lifetime time.Duration) {
	f.outcome.Flag(c)
	c.Flags().StringVar(&f.dir, "dir", "certs", "the directory of the files; created if it is missing")
	c.Flags().DurationVar(&f.lifetime, "lifetime", lifetime, "how long the certificate is valid")
}

// check returns a usage error for a lifetime that is too short or too long, or for a wrong directory.
func (f *certFlags) check() error {
	const most = 10 * 365 * 24 * time.Hour
	if f.lifetime < time.Minute || f.lifetime > most {
		return cmdline.WrongUse("--lifetime %s: must be from 1m to %s (ten years)", f.lifetime, most)
	}
	return cmdline.Refused(outfile.CheckDir(f.dir, false))
}

// CertCommand returns the commands that make certificates.
func CertCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "cert",
		Short: "Make certificates for TLS between the programs",
		Long: `Makes a CA for a cluster, and certificates that it signs. A certificate is for one role
and name: the programs (balancer, slave, master, distributor) with the name in their
configuration, operator and reader for people and programs that use admin ports.

Keep ca.key away from the machines of the cluster; give each program ca.crt and its own
certificate and key (keys tls.ca, tls.cert, tls.key), and set tls.mode to both on all of them,
one restart at a time, then to required in the same way. They read the files
again when they change.`,
		Example: `  adshard cert ca --cluster prod
  adshard cert issue slave slave-0 --host 10.0.0.8
  adshard cert issue operator alice
  adshard cert rotate slave slave-0                replace key and certificate before they expire
  adshard cert rotate ca                           add a new CA beside the old one`,
	})
	c.AddCommand(certCACommand(s), certIssueCommand(s), certRotateCommand(s))
	return c
}

func certCACommand(s cmdline.Streams) *cobra.Command {
	var f certFlags
	var cluster string
	c := &cobra.Command{
		Use:     "ca --cluster NAME",
		Short:   "Make the CA of a cluster",
		Long:    `Makes ca.crt and ca.key. Anyone who has ca.key can pass for any part of the cluster.`,
		Example: `  adshard cert ca --cluster prod --dir /secure/certs`,
		Args:    cmdline.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			pair, err := certs.NewAuthority(cluster, f.lifetime)
			if err != nil {
				return cmdline.Usage(err)
			}
			return f.made(s, certs.AuthorityFiles(f.dir), certs.AuthorityFiles(f.dir).Create(pair))
		},
	}
	c.Flags().StringVar(&cluster, "cluster", "", "the cluster's name; certificates of other clusters are refused")
	f.add(c, certs.AuthorityLife)
	return c
}

func certIssueCommand(s cmdline.Streams) *cobra.Command {
	var f certFlags
	var hosts []string
	c := &cobra.Command{
		Use:   "issue ROLE NAME",
		Short: "Make a certificate with its key",
		Long: `Makes ROLE.NAME.crt and ROLE.NAME.key, signed by the CA in the directory. Files that
exist are not replaced: see rotate.`,
		Example: `  adshard cert issue balancer balancer-0 --host 10.0.0.5
  adshard cert issue reader prometheus --lifetime 168h`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			role, name, err := f.whom(args)
			if err != nil {
				return err
			}
			return f.issue(s, role, name, hosts, certs.Files.Create)
		},
	}
	c.Flags().StringSliceVar(&hosts, "host", nil, "names and addresses by which curl, Prometheus or browsers call the process")
	f.add(c, certs.Life)
	return c
}

func certRotateCommand(s cmdline.Streams) *cobra.Command {
	var f certFlags
	c := &cobra.Command{
		Use:   "rotate ROLE NAME | rotate ca",
		Short: "Replace a certificate and its key by new ones",
		Long: `Makes a new key and certificate for the same role, name, hosts and lifetime in place of the
files of 'cert issue'. Running programs use them as soon as they have the new files.

With 'ca': makes a new CA, and ca.crt a bundle of its certificate and the one before. Bring
ca.crt to all programs first, then rotate all certificates; the old CA is left out of
the bundle once it has expired.`,
		Example: `  adshard cert rotate slave slave-0
  adshard cert rotate ca`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "ca" {
				if !c.Flags().Changed("lifetime") {
					f.lifetime = certs.AuthorityLife
				}
				return f.rotateCA(s)
			}
			role, name, err := f.whom(args)
			if err != nil {
				return err
			}
			old, err := certs.FilesOf(f.dir, role, name).Read()
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w; `adshard cert issue %s %s` makes the first one, once there is neither certificate nor key", err, role, shell.Word(name))
			}
			if err != nil {
				return err
			}
			f.keepLifetime(c, s, certs.Lifetime(old))
			return f.issue(s, role, name, certs.Hosts(old), certs.Files.Replace)
		},
	}
	f.add(c, certs.Life)
	return c
}

// keepLifetime keeps the lifetime of the previous certificate unless --lifetime is given.
func (f *certFlags) keepLifetime(c *cobra.Command, s cmdline.Streams, old time.Duration) {
	if old < time.Minute || old == f.lifetime || c.Flags().Changed("lifetime") {
		return
	}
	f.lifetime = old
	fmt.Fprintf(s.Err, "valid for %v, as the one before was; --lifetime changes it\n", old)
}

// whom returns the role and the name that a command is given.
func (f *certFlags) whom(args []string) (access.Role, string, error) {
	if len(args) != 2 {
		return "", "", cmdline.WrongUse("name a role and a name, as in `adshard cert issue slave slave-0`")
	}
	role, err := access.ParseRole(args[0])
	if err == nil {
		err = access.CheckName("name", args[1])
	}
	if err != nil {
		return "", "", cmdline.Usage(err)
	}
	return role, args[1], f.check()
}

// issue makes a certificate and writes it.
func (f *certFlags) issue(s cmdline.Streams, role access.Role, name string, hosts []string, write func(certs.Files, certs.Pair) error) error {
	ca, err := certs.AuthorityFiles(f.dir).Read()
	if err != nil {
		return fmt.Errorf("%w; `adshard cert ca --cluster NAME` makes a CA", err)
	}
	authority, err := certs.OpenAuthority(ca)
	if err != nil {
		return err
	}
	pair, err := authority.Issue(role, name, hosts, f.lifetime)
	if err != nil {
		return cmdline.Usage(err)
	}
	if time.Now().Add(f.lifetime).After(authority.Until()) {
		fmt.Fprintf(s.Err, "the certificate ends with its CA, on %s; `adshard cert rotate ca` makes the next one\n", authority.Until().Format(time.DateOnly))
	}
	files := certs.FilesOf(f.dir, role, name)
	return f.made(s, files, write(files, pair))
}

// rotateCA puts a new CA in front of the present one.
func (f *certFlags) rotateCA(s cmdline.Streams) error {
	if err := f.check(); err != nil {
		return err
	}
	files := certs.AuthorityFiles(f.dir)
	old, err := files.Read()
	if err != nil {
		return err
	}
	pair, err := certs.NextAuthority(old, f.lifetime, time.Now())
	if err != nil {
		return err
	}
	return f.made(s, files, files.Replace(pair))
}

// made prints the files that were written.
func (f *certFlags) made(s cmdline.Streams, files certs.Files, err error) error {
	if err != nil {
		if fault.Is(err, fault.Conflict) {
			return cmdline.WrongUse("%v; `adshard cert rotate` replaces certificates", err)
		}
		return err
	}
	return f.outcome.Print(s, certJSON{files.Cert, files.Key}, func() error {
		_, err := fmt.Fprintf(s.Out, "%s\n%s\n", files.Cert, files.Key)
		return err
	})
}
