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

printf "$files"
source ./settings.sh
cleanup "$@"
