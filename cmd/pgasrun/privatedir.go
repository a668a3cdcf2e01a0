package main

// A directory from which programs are run: no other user can have put them there, or can put another one in their
// place. The shell of a staged host makes the same checks (launch/internal/spawn/stage.go).

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// makePrivate makes a directory, and those on the way to it. It returns an error if a user other than this one and root
// can change what is in it, or lead its name elsewhere.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for _, path := range []string{dir, real} {
		for at := path; ; at = filepath.Dir(at) {
			info, err := os.Lstat(at)
			if err != nil {
				return err
			}
			if why := shared(info, at == real); why != "" {
				return fmt.Errorf("%s %s, and programs from there may be another user's: "+
					"take write permission from others (chmod go-w), or set XDG_CACHE_HOME to a directory of your own", at, why)
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return nil
}

// shared returns how users other than this one and root can change a symbolic link or what is in a directory, or "". In
// a directory with the sticky bit they cannot rename what is not theirs, which suffices for the directories on the way.
func shared(info fs.FileInfo, last bool) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	mode, me := info.Mode(), os.Getuid()
	switch {
	case !ok:
		return "has no known owner"
	case int(st.Uid) != me && (last || st.Uid != 0):
		return fmt.Sprintf("belongs to another user, %d", st.Uid)
	case mode&fs.ModeSymlink != 0, mode&fs.ModeSticky != 0 && !last:
		return ""
	case mode&0o002 != 0:
		return "can be changed by every user"
	case mode&0o020 != 0 && st.Gid != 0 && !ownGroup(int(st.Gid)):
		return fmt.Sprintf("can be changed by the group %d", st.Gid)
	}
	return ""
}

// ownGroup reports whether a group has this user alone as a member: it is the user's first one and has the user's name.
func ownGroup(gid int) bool {
	if gid != os.Getgid() {
		return false
	}
	u, err := user.Current()
	if err != nil {
		return false
	}
	g, err := user.LookupGroupId(strconv.Itoa(gid))
	return err == nil && g.Name == u.Username
}
