#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit stream` against NumPy and ffmpeg: files, pipes, signals, faults."""
import os, pathlib, re, shutil, signal, subprocess

import tool

np = tool.need_numpy()
SOBEL = pathlib.Path(__file__).parents[2] / "examples" / "08_sobel" / "sobel.c"
FACES = ("--boundary", "reflect/symmetric")
RELAX = """
void relax(const float *u, float *v, max float *delta)
{
  *v = (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]) / 4;
  *delta = fabsf(*v - *u);
}
"""


def _video(frames, height=19, width=33, seed=1):
    return np.random.default_rng(seed).integers(0, 256, (frames, height, width), np.uint8)


def _y4m(video, form="Cmono"):
    """Grey frames as Y4M; with C420jpeg also chroma, which is 128."""
    n, h, w = video.shape
    chroma = b"" if form == "Cmono" else bytes([128]) * (2 * ((h + 1) // 2) * ((w + 1) // 2))
    head = f"YUV4MPEG2 W{w} H{h} F25:1 Ip A1:1 {form}\n".encode()
    return head + b"".join(b"FRAME\n" + f.tobytes() + chroma for f in video)


def _frames(data, shape):
    """The luma planes of a Y4M file of whole frames."""
    head, rest = data.split(b"\n", 1)
    size = shape[0] * shape[1]
    chroma = 0 if b"Cmono" in head else 2 * ((shape[0] + 1) // 2) * ((shape[1] + 1) // 2)
    assert len(rest) % (6 + size + chroma) == 0, "not whole frames"
    planes = np.frombuffer(rest, np.uint8).reshape(-1, 6 + size + chroma)[:, 6:6 + size]
    return planes.reshape(-1, *shape)


def _sobel(u):
    p = np.pad(np.pad(u.astype(int), ((1, 0), (1, 0)), "reflect"), ((0, 1), (0, 1)), "symmetric")
    gx = p[:-2, 2:] - p[:-2, :-2] + 2 * (p[1:-1, 2:] - p[1:-1, :-2]) + p[2:, 2:] - p[2:, :-2]
    gy = p[2:, :-2] - p[:-2, :-2] + 2 * (p[2:, 1:-1] - p[:-2, 1:-1]) + p[2:, 2:] - p[:-2, 2:]
    return np.minimum(np.sqrt(gx * gx + gy * gy), 255).astype(np.uint8)


def _need_ffmpeg():
    if not shutil.which("ffmpeg"):
        raise tool.Skipped("there is no ffmpeg here")


def _ffmpeg(*words):
    _need_ffmpeg()
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, words)], check=True, stdin=subprocess.DEVNULL)


def sobel_is_what_numpy_computes_on_every_kind_of_lane():
    video = _video(9)
    want = np.array([_sobel(u) for u in video])
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(video, "C420jpeg"))
        for lanes in ("cpu", "cpu,cpu,cpu", "ref,cpu", "(cpu*2),cpu"):
            _, err = tool.run("stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.y4m", *FACES, "--lanes", lanes)
            assert "9 frames in" in err, err
            got = (f / "out.y4m").read_bytes()
            assert (_frames(got, video[0].shape) == want).all(), lanes


def sobel_is_that_of_ffmpeg():
    for pixels, size in (("gray", "33x19"), ("yuv420p", "34x20"), ("yuv422p", "64x31"), ("yuv444p", "17x16")):
        with tool.folder() as f:
            _ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}", "-frames:v", 7, "-pix_fmt", pixels, f / "in.y4m")
            _ffmpeg("-i", f / "in.y4m", "-vf", "sobel", f / "want.y4m")
            tool.run("stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.y4m", *FACES, "--planes", "all")
            assert (f / "out.y4m").read_bytes() == (f / "want.y4m").read_bytes(), pixels


def other_formats_go_through_ffmpeg():
    video = _video(12, 32, 48)
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(video))
        name = f / "-odd name; $HOME.mkv"
        _ffmpeg("-i", f / "in.y4m", "-c:v", "ffv1", name)
        tool.run("stream", SOBEL, "-i", name, "-o", f / "out.y4m", *FACES)
        got = _frames((f / "out.y4m").read_bytes(), video[0].shape)
        assert (got == np.array([_sobel(u) for u in video])).all()
        tool.run("stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.mkv", *FACES)
        _ffmpeg("-i", f / "out.mkv", "-pix_fmt", "gray", f / "back.y4m")
        back = _frames((f / "back.y4m").read_bytes(), video[0].shape)
        assert back.shape == video.shape
        left = sorted(p.name for p in f.iterdir())
        assert left == sorted(["-odd name; $HOME.mkv", "back.y4m", "in.y4m", "out.mkv", "out.y4m"]), left
        (f / "text.mp4").write_text("not a video")
        tool.refuses("stream", SOBEL, "-i", f / "text.mp4", "-o", f / "new.y4m", *FACES, code=1, saying="is empty")
        assert not (f / "new.y4m").exists()


def without_ffmpeg_a_sentence_says_what_is_missing():
    with tool.folder(in_mp4="any video") as f:
        out, err = tool.run("stream", SOBEL, "-i", f / "in.mp4", "-o", f / "out.y4m", *FACES, code=1, PATH=str(f))
        assert "ffmpeg, which knows other formats, is not installed" in err, err


def pipes_are_read_and_written():
    video = _video(20)
    r = subprocess.run([tool.AMBIT, "stream", SOBEL, "-i", "-", "-o", "-", *FACES], input=_y4m(video),
                       capture_output=True, timeout=tool.SOON)
    assert r.returncode == 0, r.stderr
    assert (_frames(r.stdout, video[0].shape) == np.array([_sobel(u) for u in video])).all()


def pieces_that_are_killed_are_done_again():
    """The loop of docs/checkpoints.md. The second piece waits for its input and is killed; then all are there."""
    text = (pathlib.Path(__file__).parents[2] / "docs/checkpoints.md").read_text()
    loop = next(block for block in re.findall(r"```sh\n(.*?)```", text, re.S) if "ambit stream" in block)
    videos = [_video(3, seed=i) for i in range(3)]
    with tool.folder(sobel_c=pathlib.Path(SOBEL).read_text()) as f:
        env = {**os.environ, "PATH": f"{pathlib.Path(tool.AMBIT).resolve().parent}:{os.environ['PATH']}"}
        for i in (0, 2):
            (f / f"in_00{i}.y4m").write_bytes(_y4m(videos[i]))
        os.mkfifo(f / "in_001.y4m")
        p = subprocess.Popen(["sh", "-c", loop], cwd=f, env=env, stderr=subprocess.DEVNULL, start_new_session=True)
        with open(f / "in_001.y4m", "wb") as half:  # the first piece is done when the second is opened
            half.write(_y4m(videos[1])[:-10])
            half.flush()
            tool.wait(lambda: list(f.glob("out_001.y4m.*tmp")))
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        done = (f / "out_000.y4m").stat()
        assert not (f / "out_001.y4m").exists() and not (f / "out_002.y4m").exists()
        (f / "in_001.y4m").unlink()
        (f / "in_001.y4m").write_bytes(_y4m(videos[1]))
        subprocess.run(["sh", "-c", loop], cwd=f, env=env, check=True, timeout=tool.SOON, stderr=subprocess.DEVNULL)
        assert (f / "out_000.y4m").stat() == done
        for i, video in enumerate(videos):
            got = _frames((f / f"out_00{i}.y4m").read_bytes(), video[0].shape)
            assert len(got) == 3 and all((g[1:-1, 1:-1] == _sobel(u)[1:-1, 1:-1]).all() for g, u in zip(got, video)), i


def streams_with_checkpoints_have_a_warning():
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(_video(2)))
        words = ["stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.y4m", *FACES]
        assert "checkpoint" not in tool.run(*words)[1]
        assert "a stream has no checkpoints: it begins with its first item" in tool.run(*words, f"--ambit-checkpoint={f / 'run.h5'}")[1]
        assert not (f / "run.h5").exists()


def a_reader_that_closes_the_pipe_ends_the_stream():
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(_video(400, 100, 100)))
        p = subprocess.Popen([tool.AMBIT, "stream", SOBEL, "-i", f / "in.y4m", "-o", "-", *FACES],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdout.read(30000)
        p.stdout.close()
        err = p.stderr.read().decode()
        assert p.wait(tool.SOON) == 1 and "cannot write standard output: Broken pipe" in err, (p.returncode, err)


def an_interrupt_leaves_whole_frames():
    video = _video(5, 200, 300)  # larger than buffers of files
    with tool.folder() as f:
        p = subprocess.Popen([tool.AMBIT, "stream", SOBEL, "-i", "-", "-o", f / "out.y4m", *FACES],
                             stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        data = _y4m(video)
        p.stdin.write(data + b"FRAME\nhalf of a frame")
        p.stdin.flush()
        tool.wait(lambda: sum(x.stat().st_size for x in f.glob("*.tmp")) > 3.9 * video[0].size)  # the last may be under way
        assert not (f / "out.y4m").exists(), "a file appears when it is complete"
        p.send_signal(signal.SIGINT)
        assert p.wait(tool.SOON) == 130, p.stderr.read()
        p.stdin.close()
        got = _frames((f / "out.y4m").read_bytes(), video[0].shape)
        assert len(got) in (4, 5) and all((g == _sobel(u)).all() for g, u in zip(got, video)), len(got)


def an_interrupt_ends_ffmpeg_without_complaints():
    with tool.folder() as f:
        _ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 400, "-pix_fmt", "yuv420p",
                "-c:v", "rawvideo", f / "in.avi")
        p = subprocess.Popen([tool.AMBIT, "stream", SOBEL, "-i", f / "in.avi", "-o", "-", *FACES],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        start = p.stdout.read(30000)
        p.send_signal(signal.SIGINT)
        while b"finishing" not in p.stderr.readline():  # the pipe is full: the stream waits for its reader
            assert p.poll() is None, p.returncode
        rest, err = p.stdout.read(), p.stderr.read()
        assert p.wait(tool.SOON) == 130 and b"ffmpeg" not in err and b"error" not in err, (p.returncode, err)
        assert 0 < len(_frames(start + rest, (48, 64))) < 400


def a_second_interrupt_ends_the_encoder_and_leaves_nothing_behind():
    with tool.folder() as f:
        (f / "bin").mkdir()
        slow = f"sleep {os.getpid()}.5"
        (f / "bin" / "ffmpeg").write_text(f"#!/bin/sh\nfor name; do :; done\ntouch ${{name#file:}}\nhead -c 20000 >{f}/fed\nexec {slow}\n")
        (f / "bin" / "ffmpeg").chmod(0o755)  # an encoder that reads hardly anything
        (f / "in.y4m").write_bytes(_y4m(_video(400, 100, 100)))
        p = subprocess.Popen([tool.AMBIT, "stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.mp4", *FACES],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                             env={**os.environ, "PATH": f"{f / 'bin'}:{os.environ['PATH']}"})
        tool.wait(lambda: (f / "fed").exists() and (f / "fed").stat().st_size)  # the stream runs, and takes signals
        p.send_signal(signal.SIGINT)
        said = b""
        while b"finishing" not in said:
            said += p.stderr.read(1) or b"(end) finishing"
        assert b"(end)" not in said, said
        p.send_signal(signal.SIGINT)
        assert p.wait(tool.SOON) == 130, p.stderr.read()
        tool.wait(lambda: subprocess.run(["pgrep", "-f", "-x", slow], stdout=subprocess.DEVNULL).returncode)  # no encoder runs on
        assert sorted(x.name for x in f.iterdir()) == ["bin", "fed", "in.y4m"], list(f.iterdir())


def a_condition_that_is_not_met_is_a_failure():
    with tool.folder(relax_c=RELAX) as f:
        (f / "in.y4m").write_bytes(_y4m(_video(3)))
        tool.refuses("stream", f / "relax.c", "-i", f / "in.y4m", "-o", f / "out.y4m", "--until", "delta<1e-3", "-n", 2,
                     "-q", saying="3 of 3 frames did not meet delta<1e-3 in 2 iterations", code=1)
        assert len(_frames((f / "out.y4m").read_bytes(), (19, 33))) == 3


def gaps_in_numbered_pictures_are_named():
    with tool.folder() as f:
        _ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 5, "-pix_fmt", "gray", f / "in%03d.png")
        (f / "in003.png").unlink()
        tool.refuses("stream", SOBEL, "-i", f / "in%03d.png", "-o", f / "out%03d.png", *FACES, code=1,
                     saying=["there is no picture 3, but one with the number 4", "2 frames in"])
        assert sorted(x.name for x in f.glob("out*")) == ["out001.png", "out002.png"]


def videos_that_are_cut_off_are_a_failure():
    with tool.folder() as f:
        _ffmpeg("-f", "lavfi", "-i", "testsrc2=size=160x120", "-frames:v", 60, "-pix_fmt", "yuv420p", f / "whole.mkv")
        whole = (f / "whole.mkv").read_bytes()
        (f / "cut.mkv").write_bytes(whole[:len(whole) // 2])
        _, err = tool.run("stream", SOBEL, "-i", f / "cut.mkv", "-o", f / "out.y4m", *FACES, code=1)
        assert "cut.mkv was not read to its end, or is damaged; ffmpeg: " in err and "/dev/fd" not in err, err
        assert (f / "out.y4m").exists()
        tool.run("stream", SOBEL, "-i", f / "whole.mkv", "-o", f / "out.y4m", *FACES)


def messages_name_the_files_of_the_user():
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(_video(400, 100, 100), "C420jpeg"))
        _need_ffmpeg()
        _, err = tool.run("stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.mp4", "--encode", "-c:v nothing", *FACES,
                          code=1)
        assert "/dev/fd" not in err and "out.mp4" in err and "nothing" in err, err
        assert "Broken pipe" not in err and "frames in" not in err and err.count("error: ") == 1, err
        assert sorted(x.name for x in f.iterdir()) == ["in.y4m"]
        (f / "words.mp4").write_text("no video")
        _, err = tool.run("stream", SOBEL, "-i", f / "words.mp4", "-o", f / "out.y4m", *FACES, code=1)
        assert "words.mp4" in err and "/dev/fd" not in err and "frames in" not in err, err


def options_of_the_encoder_are_words_and_no_shell_sees_them():
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(_video(5, 48, 64), "C420jpeg"))
        tool.refuses("stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.y4m", "--encode", "-crf 18",
                     saying="--encode has options for ffmpeg, which does not write")
        _need_ffmpeg()
        tool.run("stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.avi", "--encode",
                 f" -c:v  rawvideo -metadata title=$(touch${{IFS}}{f}/shell)", *FACES)
        assert not (f / "shell").exists() and (f / "out.avi").stat().st_size > 5 * 64 * 48


def pictures_of_several_sizes_are_one_stream():
    with tool.folder() as f:
        for i in range(1, 6):
            _ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={40 + 8 * (i % 3)}x{30 + 6 * (i % 2)}", "-frames:v", 1, "-pix_fmt",
                    "gray", f / f"in{i}.png")
        tool.run("stream", SOBEL, "-i", f / "in%d.png", "-o", f / "out%d.png", "--lanes", "cpu,ref", *FACES)
        for i in range(1, 6):
            h, w = 30 + 6 * (i % 2), 40 + 8 * (i % 3)
            u, v = (np.frombuffer(subprocess.run(["ffmpeg", "-v", "error", "-i", f / f"{name}{i}.png", "-f", "rawvideo", "-"],
                                                 capture_output=True, check=True).stdout, np.uint8).reshape(h, w)
                    for name in ("in", "out"))
            assert (v == _sobel(u)).all(), i


def pictures_and_videos_mix_in_colour():
    with tool.folder(keep_c="void keep(const unsigned char *u, unsigned char *v) { *v = *u; }") as f:
        _ffmpeg("-f", "lavfi", "-i", "smptebars=size=64x48", "-frames:v", 4, "-pix_fmt", "rgb24", f / "in%02d.png")

        def rgb(name):
            return np.frombuffer(subprocess.run(["ffmpeg", "-v", "error", "-i", name, "-f", "rawvideo", "-pix_fmt", "rgb24",
                                                 "-"], capture_output=True, check=True).stdout, np.uint8).astype(int)
        want = rgb(f / "in%02d.png")
        tool.run("stream", f / "keep.c", "-i", f / "in%02d.png", "-o", f / "mid.mkv", "--encode", "-c:v ffv1")
        tool.run("stream", f / "keep.c", "-i", f / "mid.mkv", "-o", f / "out%02d.png")
        got = rgb(f / "out%02d.png")
        assert want.shape == got.shape and abs(want - got).max() <= 4, abs(want - got).max()
        assert abs(want - rgb(f / "mid.mkv")).max() <= 4, "ffmpeg sees other colours"


def deep_and_rgb_videos_are_not_converted_silently():
    with tool.folder() as f:
        for format, name in (("yuv420p10le", "deep"), ("gbrp", "rgb"), ("yuv422p", "plain")):
            _ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 3, "-pix_fmt", format, "-c:v", "ffv1",
                    f / f"{name}.mkv")
        if not shutil.which("ffprobe"):
            raise tool.Skipped("there is no ffprobe here")
        tool.refuses("stream", SOBEL, "-i", f / "deep.mkv", "-o", f / "out.y4m", *FACES, code=1,
                     saying=["deep.mkv has more than 8 bits per sample (yuv420p10le)", "ffmpeg -i "])
        assert not (f / "out.y4m").exists()
        _, err = tool.run("stream", SOBEL, "-i", f / "rgb.mkv", "-o", f / "out.y4m", *FACES)
        assert "rgb.mkv has red, green and blue (" in err and "it is converted" in err, err
        _, err = tool.run("stream", SOBEL, "-i", f / "plain.mkv", "-o", f / "out.y4m", "-q", *FACES)
        assert not err, err


def frames_before_a_damaged_one_are_written():
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(_video(6))[:-7])
        tool.refuses("stream", SOBEL, "-i", f / "in.y4m", "-o", f / "out.y4m", *FACES, code=1,
                     saying=["frame 5 is cut off: the file ends after 620 of its 627 bytes", "5 frames in"])
        assert len(_frames((f / "out.y4m").read_bytes(), (19, 33))) == 5


def devices_take_frames():
    with tool.folder() as f:
        (f / "in.y4m").write_bytes(_y4m(_video(6)))
        _, err = tool.run("stream", SOBEL, "-i", f / "in.y4m", "-o", "/dev/null", *FACES)
        assert "6 frames in" in err, err


def a_condition_ends_the_iterations_of_each_frame():
    video = _video(3) // 8
    with tool.folder(relax_c=RELAX) as f:
        (f / "in.y4m").write_bytes(_y4m(video))
        tool.run("stream", f / "relax.c", "-i", f / "in.y4m", "-o", f / "out.y4m", "--boundary", "symmetric",
                 "--until", "delta<0.5", "--lanes", "cpu,ref", "--strict", "--in-flight", 2)
        got = _frames((f / "out.y4m").read_bytes(), video[0].shape)
        for u, v in zip(video.astype(np.float32), got):
            delta = 1
            while delta >= 0.5:
                p = np.pad(u, 1, "symmetric")
                new = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / np.float32(4)
                delta, u = abs(new - u).max(), new
            assert (np.floor(u + 0.5) == v).all()


def mistakes_are_named():
    with tool.folder(relax_c=RELAX) as f:
        (f / "in.y4m").write_bytes(_y4m(_video(2)))
        files = ("-i", f / "in.y4m", "-o", f / "out.y4m")
        tool.refuses("stream", SOBEL, "-o", "x.y4m", saying="the input is missing")
        tool.refuses("stream", SOBEL, *files, "--planes", "u", saying="it must be y or all")
        tool.refuses("stream", SOBEL, *files, "--lanes", "cpu,(ref", saying="a ')' is missing")
        tool.refuses("stream", "star3d1", *files, saying="has 3 dimensions; frames have 2")
        tool.refuses("stream", f / "relax.c", *files, "--until", "dleta<1", saying="did you mean 'delta'")
        tool.refuses("stream", SOBEL, *files, "--boundary", "periodic/clamp", saying="periodic on one face only")
        tool.refuses("stream", SOBEL, "-i", f / "no.y4m", "-o", f / "out.y4m", code=1, saying="cannot open")
        tool.refuses("stream", SOBEL, "-i", f / "no.mp4", "-o", f / "out.y4m", code=1, saying=f"cannot open {f}/no.mp4: No")
        tool.refuses("stream", SOBEL, *files, "--lanes", "opencl:99", code=1, saying="lane 0 (opencl:99)")
        assert not (f / "out.y4m").exists()


tool.main(globals())
