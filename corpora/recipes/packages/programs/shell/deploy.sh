#!/bin/bash
set -e

target=$1
files=`ls *.tar.gz`

cd $target
for file in $files; do
    echo Unpacking $file
    tar xzf $file
    if [ $? != 0 ]; then
        echo "could not unpack" $file
    fi
done

function cleanup() {
    rm -rf $TMP_BUILD/*
    local status=$(cat status.txt)
    [ $status == "done" ] && exit
}

read answer
if [[ $answer = yes ]] then
    echo "restarting $host"
fi
unused="never read"
echo "price: $5" | grep 'x$y' | wc -l
trap "echo finished at $(date)" EXIT
