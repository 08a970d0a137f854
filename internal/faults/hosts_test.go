package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside is the environment variable of a process that has its own network and mounts, which end with it.
const inside = "FAULTS_INSIDE"

// enclose runs this program again in its own namespaces and returns its exit status. If that is not allowed, ok is
// false and the tests run in this process.
func enclose() (status int, ok bool) {
	runtime.LockOSThread() // the system ends the child together with the thread that started it
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		return 1, true
	}
	return cmd.ProcessState.ExitCode(), true
}

// network gives each part its own host.
type network struct {
	hosts map[string]string // addresses by part
	apart bool              // hosts are separate network namespaces
	why   string            // the reason if they are not
}

// prefix begins all addresses.
const prefix = "10.55.0."

// newNetwork makes a network. If this process has its own namespaces, it adds a bridge.
func newNetwork() *network {
	n := &network{hosts: make(map[string]string)}
	if os.Getenv(inside) == "" {
		n.why = "network namespaces"
		return n
	}
	err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		os.MkdirAll("/run/netns", 0o755),
		syscall.Mount("tmpfs", "/run/netns", "tmpfs", 0, "size=1m"),
		ip("link set lo up", "link add name br0 type bridge", "addr add "+prefix+"1/24 dev br0", "link set br0 up"))
	if n.apart = err == nil; !n.apart {
		n.why = fmt.Sprint("network namespaces: ", err)
	}
	return n
}

// host returns the address of a part's host, and creates the host on the first call.
func (n *network) host(part string) (string, error) {
	if address := n.hosts[part]; address != "" {
		return address, nil
	}
	if !n.apart {
		// Another run on this machine uses other addresses.
		pid := os.Getpid()
		n.hosts[part] = fmt.Sprintf("127.%d.%d.%d", 1+pid>>8&0x7f, pid&0xff, 2+len(n.hosts))
		return n.hosts[part], nil
	}
	address := fmt.Sprint(prefix, 2+len(n.hosts))
	err := ip("netns add "+part,
		"link add "+cable(part)+" type veth peer name eth0 netns "+part,
		"link set "+cable(part)+" master br0 up")
	if err == nil {
		err = in(part, "addr add "+address+"/24 dev eth0", "link set eth0 up", "link set lo up")
	}
	n.hosts[part] = address
	return address, err
}

// cable returns the name of the bridge's end of a host's cable; such names must be short.
func cable(part string) string { return "v-" + strings.NewReplacer("distributor", "d").Replace(part) }

// enter returns the beginning of a command line that runs on a part's host.
func (n *network) enter(part string) []string {
	if !n.apart {
		return nil
	}
	return []string{"nsenter", "--net=" + filepath.Join("/run/netns", part)}
}

// stay moves the calling thread to a part's host. The thread is locked, and must never be unlocked.
func (n *network) stay(part string) error {
	if !n.apart {
		return nil
	}
	space, err := os.Open(filepath.Join("/run/netns", part))
	if err != nil {
		return err
	}
	defer space.Close()
	return unix.Setns(int(space.Fd()), unix.CLONE_NEWNET)
}

// nowhere is a hardware address that no host has.
const nowhere = "02:00:00:00:00:ff"

// cut silently drops all packets that one host sends to another; join ends that.
func (n *network) cut(from, to string) error {
	return in(from, "neigh replace "+n.hosts[to]+" lladdr "+nowhere+" dev eth0 nud permanent")
}

func (n *network) join(from, to string) error { return in(from, "neigh del "+n.hosts[to]+" dev eth0") }

// off unplugs a host's cable, and on plugs it in again.
func (n *network) off(part string) error { return ip("link set " + cable(part) + " nomaster") }
func (n *network) on(part string) error  { return ip("link set " + cable(part) + " master br0") }

// slow limits the rate at which a host sends and receives, in kbit/s; fast ends that.
func (n *network) slow(part string, kbit int) error {
	limit := fmt.Sprintf("root tbf rate %dkbit burst 16kb latency 400ms", kbit)
	return errors.Join(run("tc", "-n", part, "qdisc", "replace", "dev", "eth0", limit), run("tc", "qdisc", "replace", "dev", cable(part), limit))
}

func (n *network) fast(part string) error {
	return errors.Join(run("tc", "-n", part, "qdisc", "del", "dev", "eth0", "root"), run("tc", "qdisc", "del", "dev", cable(part), "root"))
}

// ip runs commands of ip(8).
func ip(commands ...string) error { return batch(nil, commands) }

// in runs ip commands in the namespace of a part.
func in(part string, commands ...string) error { return batch([]string{"-n", part}, commands) }

func batch(args, commands []string) error {
	cmd := exec.Command("ip", append(args, "-batch", "-")...)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", commands, err, out)
	}
	return nil
}

// run runs a program; an argument may consist of several words.
func run(program string, args ...string) error {
	words := strings.Fields(strings.Join(args, " "))
	if out, err := exec.Command(program, words...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, words, err, out)
	}
	return nil
}
