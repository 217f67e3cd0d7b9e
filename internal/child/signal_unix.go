//go:build unix

package child

import (
	"os"
	"os/signal"
	"syscall"
)

// Forwarded returns the signals that are passed on to a command. Those that this
// program was told to ignore, as nohup does, stay ignored, here and there.
func Forwarded() []os.Signal {
	return heeded(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
}

// Ending returns those of the signals that mean that the program should end.
func Ending() []os.Signal {
	return heeded(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}

func heeded(all ...os.Signal) []os.Signal {
	var heeded []os.Signal
	for _, s := range all {
		if !signal.Ignored(s) {
			heeded = append(heeded, s)
		}
	}
	return heeded
}

// Ends reports whether the signal means that the program should end.
func Ends(s os.Signal) bool { return s != syscall.SIGUSR1 && s != syscall.SIGUSR2 }

// Code returns the exit code of a program ended by the signal.
func Code(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}

// fromTerminal reports whether a terminal sends the signal to its whole
// foreground group.
func fromTerminal(s os.Signal) bool { return s == syscall.SIGINT || s == syscall.SIGQUIT }

// Signal sends s to the command, or to its whole group, also if the command has left that. Both may be gone.
func (p *Process) Signal(s os.Signal) {
	number, ok := s.(syscall.Signal)
	if !ok {
		return
	}
	pid := p.cmd.Process.Pid
	if p.group {
		_ = syscall.Kill(-pid, number)
		if group, err := syscall.Getpgid(pid); err != nil || group == pid {
			return
		}
	}
	_ = p.cmd.Process.Signal(s)
}

// terminate tells the command to end. A stopped command must go on to hear it.
func (p *Process) terminate() {
	p.Signal(syscall.SIGTERM)
	p.Signal(syscall.SIGCONT)
}
